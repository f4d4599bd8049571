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
  std::int32_t relay = -1;  ///< of a relayed copy: the GPU between, counted among the job's
};

/// A copy between two GPUs that no link joins.
struct IndirectCopy {
  std::string from, to;
  std::string over;  ///< the GPU that takes it in and passes it on; empty: host memory
};

/// Routes of every ordered pair of `devices`, row by row; the diagonal is empty.
///
/// Linked GPUs (and those on one NVSwitch) copy directly. The others go through the host, or, with
/// `UnlinkedRoute::two_hop`, through a GPU of the job that is linked to both, where there is one: of several relays the one
/// whose links are asked for least so far. The hops of a relayed copy are those of two copies: to the relay, and from it.
/// Where a link refuses peers the driver stages a copy in host memory, at most at the link's staged rate.
/// Errors: GPUs that cannot reach each other.
[[nodiscard]] Result<std::vector<CopyRoute>> peer_routes(const System& system, const std::vector<int>& devices,
                                                         UnlinkedRoute unlinked);

/// How many pairs go each way, in words.
[[nodiscard]] std::string describe_routes(const std::vector<CopyRoute>& routes);

/// The pairs of `routes` that no link joins, in the order of `devices`.
[[nodiscard]] std::vector<IndirectCopy> indirect_copies(const System& system, const std::vector<int>& devices,
                                                        const std::vector<CopyRoute>& routes);

/// The routes' links in a step: one flow per copy.
class PeerCopies {
 public:
  explicit PeerCopies(std::vector<CopyRoute> routes) : routes_(std::move(routes)) {}
  void prepare(StepBuilder& builder);
  [[nodiscard]] const CopyRoute& route(std::size_t pair) const { return routes_[pair]; }
  /// A copy over route `pair`, on stream or queue `stream`. Of a relayed route the caller copies both parts, each over the
  /// route of its own pair.
  engine::TaskId copy(StepBuilder& builder, StepTask task, engine::StreamId stream, std::size_t pair, Bytes bytes,
                      std::span<const engine::TaskId> after);

 private:
  std::vector<CopyRoute> routes_;
  std::vector<std::vector<engine::LinkUse>> uses_;  // per route
};

}  // namespace tbdsim
