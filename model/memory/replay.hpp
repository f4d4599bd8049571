#pragma once
#include <optional>
#include <span>
#include <vector>

#include "model/memory/eager_trace.hpp"
#include "model/stack/stack.hpp"

namespace tbdsim {

/// What an allocator did with a trace.
struct Replay {
  bool fits = true;           ///< false: out of memory, the rest is what was reached
  Bytes allocated, reserved;  ///< peaks: rounded requests, and held from the driver
  std::vector<Bytes> held;    ///< from the driver, as each node of the last step ends
};

/// Runs a training step twice through the stack's allocator, since the second finds the holes that the first left.
/// `persistent` are the sizes of arrays that stay (weights, optimiser state, batch, buckets), allocated first.
/// `capacity`: what the driver can give; none: without end. Expects a stack that allocates as it runs.
[[nodiscard]] Replay replay(const AllocationTrace& trace, std::span<const Bytes> persistent, std::int32_t nodes, MemoryPlan plan,
                            std::optional<Bytes> capacity);

}  // namespace tbdsim
