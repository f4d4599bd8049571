#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/hardware/cluster.hpp"
#include "model/stack/nccl.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

enum class CollectiveKind { all_reduce, reduce_scatter, all_gather, reduce, broadcast, all_to_all };
enum class CollectiveAlgorithm { none, ring, tree, nvls, nvls_tree, pairwise };
enum class Protocol { ll, ll128, simple };
[[nodiscard]] std::string_view name(CollectiveKind kind);
[[nodiscard]] std::string_view name(CollectiveAlgorithm algorithm);
[[nodiscard]] std::string_view name(Protocol protocol);

/// Who takes part: the same devices of every node.
struct CollectiveGroup {
  std::vector<int> devices;
  int nodes = 1;
  std::optional<Network> network;  ///< between nodes
};

/// One direction of a bundle of links, named alike in every plan of a system, so that plans can share it.
struct CollectiveLink {
  std::string name;
  BytesPerSecond capacity;
  bool between_nodes = false;
};

/// `weight` bytes cross link `link` of the plan for each byte of the message.
struct LinkWeight {
  std::int32_t link = 0;
  double weight = 0;
};

/// One algorithm with one protocol: how a call's time grows with its message.
struct CollectiveMethod {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  Protocol protocol = Protocol::simple;
  Seconds start;  ///< of a call: launch and one message's way through all steps
  std::vector<LinkWeight> weights;
};

/// How a group runs one collective: found once, then asked for every message.
struct CollectivePlan {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 1;
  int channels = 0;  ///< thread blocks that a call keeps busy on every GPU
  std::vector<CollectiveLink> links;
  std::vector<CollectiveMethod> methods;
  std::string description;  ///< "6 NVLink rings at 22.8 GB/s"
};

/// One call: a flow that waits `latency` and then moves its message at most at `rate` (0: limited by its links only).
struct CollectiveCall {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::none;
  Protocol protocol = Protocol::simple;
  Seconds latency;
  BytesPerSecond rate;
  std::span<const LinkWeight> weights;  ///< of the plan, which must outlive the call
  Seconds time;                         ///< alone on its links
};

/// Finds how `group` runs a collective: the rings that NCCL's search finds on the links, joined over the network where
/// there are several nodes. One rank moves nothing.
/// Errors: GPUs that cannot reach each other; several nodes without a network.
[[nodiscard]] Result<CollectivePlan> plan_collective(const System& system, const CollectiveGroup& group, CollectiveKind kind,
                                                     const NcclLibrary& library);

/// The call for a message, as nccl-tests counts it: the larger of the buffers that each rank gives and gets (all-gather,
/// reduce-scatter: all parts together). A message of 0 bytes costs the latency. Ignores other traffic: who simulates the
/// flow shares its links.
[[nodiscard]] CollectiveCall collective_call(const CollectivePlan& plan, Bytes message);

}  // namespace tbdsim
