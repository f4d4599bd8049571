#pragma once
#include <string>
#include <vector>

#include "model/hardware/cluster.hpp"
#include "model/schedule/step_builder.hpp"
#include "model/stack/store.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

/// Way of a copy between two GPUs of a node, by copy engine.
struct CopyRoute {
  struct Hop {
    std::string link;  ///< one direction of a bundle, "gpu0-gpu3 >", named as collectives name it
    BytesPerSecond capacity;
  };
  std::vector<Hop> hops;
  Seconds latency;
  BytesPerSecond most{0.0};  ///< that the copy reaches alone; 0: what its links let through
  enum class Way { none, direct, relayed, through_host } way = Way::none;
};

/// Routes of every ordered pair of `devices`, row by row; the diagonal is empty.
///
/// Linked GPUs (and those on one NVSwitch) copy directly. The others go through the host, or, with
/// `UnlinkedRoute::two_hop`, through a GPU that is linked to both, where there is one: of several relays the one whose
/// links are asked for least so far. A relayed copy passes on its bytes as they come, so it is one flow over both hops.
/// Where a link refuses peers the driver stages a copy in host memory, at most at the link's staged rate.
/// Errors: GPUs that cannot reach each other.
[[nodiscard]] Result<std::vector<CopyRoute>> peer_routes(const System& system, const std::vector<int>& devices,
                                                         UnlinkedRoute unlinked);

/// How many pairs go each way, in words.
[[nodiscard]] std::string describe_routes(const std::vector<CopyRoute>& routes);

/// The routes' links in a step: one flow per copy.
class PeerCopies {
 public:
  explicit PeerCopies(std::vector<CopyRoute> routes) : routes_(std::move(routes)) {}
  void prepare(StepBuilder& builder);
  /// A copy over route `pair`, on stream or queue `stream`.
  engine::TaskId copy(StepBuilder& builder, StepTask task, engine::StreamId stream, std::size_t pair, Bytes bytes,
                      std::span<const engine::TaskId> after);

 private:
  std::vector<CopyRoute> routes_;
  std::vector<std::vector<engine::LinkUse>> uses_;  // per route
};

}  // namespace tbdsim
