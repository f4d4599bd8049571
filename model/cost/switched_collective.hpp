#pragma once
#include <optional>
#include <vector>

#include "model/cost/paced_call.hpp"
#include "model/stack/nccl.hpp"
#include "model/workload/collective_kind.hpp"

namespace tbdsim {

/// A group of GPUs behind a switch.
struct SwitchedGroup {
  int ranks = 2;
  BytesPerSecond port;           ///< line rate of a GPU's links into the switch, one direction
  double links = 1;              ///< NVLinks of a port
  double pace = 1;               ///< latencies of this board over those of the architecture's constants
  std::optional<Seconds> start;  ///< of a call, where the way of launching is known; else the architecture's
};

/// What the library's search plans with: channels of one rate each. It runs two thread blocks for each.
struct PlannedChannels {
  int count = 1;
  BytesPerSecond rate;
};
/// The first rate of the list that no later one above half of it beats; a fast channel is split in two.
/// Source: NVIDIA/nccl `src/graph/search.cc`, releases 2.18 to 2.30.
[[nodiscard]] PlannedChannels planned_channels(const NcclSwitched& costs, double links);

/// GPUs that own a part each of what switches reduce for so many ranks: at most 32. Source: NCCL_MAX_NVLS_ARITY of NVIDIA/nccl
/// `src/include/device.h`, ncclTopoCompute of `src/graph/search.cc`, releases 2.27 to 2.30.
[[nodiscard]] int switch_owners(int ranks);

/// One way of running a collective.
struct SwitchedMethod {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  Protocol protocol = Protocol::simple;
  PacedCall call;
  /// What the library itself expects, by which it chooses; none where the least time decides.
  struct Planned {
    Seconds start;
    BytesPerSecond rate;  ///< of the message
  };
  std::optional<Planned> planned;
};

/// Every way of running a collective behind a switch. `release` gives the plan's starts and steps.
/// Expects ranks >= 2. Neglects: 8-bit messages, which never reduce in the switch.
[[nodiscard]] std::vector<SwitchedMethod> switched_methods(const NcclSwitched& costs, const NcclRelease& release,
                                                           const SwitchedGroup& group, CollectiveKind kind);

/// The way that the library takes for a message: the shortest by its own plan, where every way has one, else the shortest.
/// Expects at least one way.
[[nodiscard]] const SwitchedMethod& chosen(const std::vector<SwitchedMethod>& ways, Bytes message);

}  // namespace tbdsim
