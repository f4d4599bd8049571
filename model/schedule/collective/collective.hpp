#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/cost/paced_call.hpp"
#include "model/hardware/cluster.hpp"
#include "model/stack/nccl.hpp"
#include "model/support/result.hpp"
#include "model/workload/collective_kind.hpp"

namespace tbdsim {

/// Who takes part: the same devices of every node.
struct CollectiveGroup {
  std::vector<int> devices;
  int nodes = 1;
  std::optional<Network> network;  ///< between nodes
  std::string launch = {};         ///< how calls are started, a name of the library; empty: not known
};

/// One direction of a bundle of links, named alike in every plan of a system, so that plans can share it.
struct CollectiveLink {
  std::string name;
  BytesPerSecond capacity;
};

/// `weight` bytes cross link `link` of the plan for each byte of the message.
struct LinkWeight {
  std::int32_t link = 0;
  double weight = 0;
};

/// One algorithm with one protocol: how a call's time grows with its message S. With L = the time of the bytes on the
/// slowest link,
///
///   t(S) = start + (loops - 1) loop_start + max(floor, L / efficiency + S / serial) + drain + 2 sqrt(depth L)
///
/// loops = ceil(S / loop). Drain: at the end of a loop, steps' worth of bytes that nothing overlaps. Depth: chunks are
/// sized so that the steps of a pipeline and its bytes cost least together, (sqrt(depth) + sqrt(L))^2 in all.
struct CollectiveMethod {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  Protocol protocol = Protocol::simple;
  Seconds start;  ///< of a call: launch and one slice's way through all steps
  std::vector<LinkWeight> weights;
  BytesPerSecond limit;  ///< of the message, besides the links; 0: none
  double efficiency = 1;
  BytesPerSecond serial;  ///< 0: nothing
  Seconds floor, loop_start, depth;
  Bytes loop;                               ///< 0: one loop
  double steps = 0;                         ///< of the bytes' way, for drains
  double drain_last = 0, drain_before = 0;  ///< steps' worth of the bytes of the last and of earlier loops
  /// What the library itself expects, where it chooses by that: start and rate of the message.
  struct Planned {
    Seconds start;
    BytesPerSecond rate;
  };
  std::optional<Planned> planned;
  /// Behind a switch, since NCCL 2.18: the time's own form in place of the above, as far as the links allow. `start` is its
  /// start.
  std::optional<PacedCall> paced;
};

/// How a group runs one collective: found once, then asked for every message.
struct CollectivePlan {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 1;
  int channels = 0;   ///< thread blocks that a call keeps busy on every GPU
  double beside = 0;  ///< of a call's time, what kernels beside it lose besides those multiprocessors; between nodes the less,
                      ///< the longer their own links wait for the network
  std::vector<CollectiveLink> links;
  std::vector<CollectiveMethod> methods;  ///< of equal times, the first is taken
  bool planned = false;                   ///< the library's own plan chooses, else the least time
  Bytes ll_limit;                         ///< from here on LL is not chosen; 0: no such limit
  std::string description;                ///< "6 NVLink rings at 22.8 GB/s"
};

/// One call: a flow that waits `latency` and then moves its message at most at `rate` (0: limited by its links only).
struct CollectiveCall {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::none;
  Protocol protocol = Protocol::simple;
  Seconds latency;
  BytesPerSecond rate;
  int channels = 0;                     ///< thread blocks that it keeps busy on every GPU
  std::span<const LinkWeight> weights;  ///< of the plan, which must outlive the call
  Seconds time;                         ///< alone on its links
  Seconds least;                        ///< of all methods; below `time` where the library's own plan chose badly
  Protocol fastest = Protocol::simple;  ///< of that
};

/// Finds how `group` runs a collective: the rings that NCCL's search finds on the links, joined over the network where
/// there are several nodes; trees between nodes and reduction in the switch where the release has them. One rank moves
/// nothing. Every node is alike: `links` are those of one, and one "network" link for all NICs of a node.
/// Errors: GPUs that cannot reach each other; several nodes without a network; a way of launching that the library does
/// not know.
[[nodiscard]] Result<CollectivePlan> plan_collective(const System& system, const CollectiveGroup& group, CollectiveKind kind,
                                                     const NcclLibrary& library);

/// The call for a message, as nccl-tests counts it: the larger of the buffers that each rank gives and gets (all-gather,
/// reduce-scatter: all parts together). A message of 0 bytes costs the latency. Ignores other traffic: who simulates the
/// flow shares its links.
[[nodiscard]] CollectiveCall collective_call(const CollectivePlan& plan, Bytes message);

}  // namespace tbdsim
