#pragma once
#include <span>

#include "model/memory/eager_trace.hpp"

namespace tbdsim {

/// The profile of a step whose arrays come and go between its nodes' operations: an array that is given back before the next is
/// asked for, by the same node, is not counted beside it. `live` is the most that exists at once while a node runs.
struct EventProfile {
  MemoryProfile profile;
  std::vector<std::int32_t> held;  ///< arrays at the peak's moment, by index
};

/// `arrays`: those of `events`, then others, which are there throughout.
[[nodiscard]] EventProfile event_profile(std::span<const Lifetime> arrays, std::span<const AllocationEvent> events,
                                         std::int32_t positions);

}  // namespace tbdsim
