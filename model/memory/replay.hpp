#pragma once
#include <optional>
#include <span>
#include <vector>

#include "model/memory/eager_trace.hpp"
#include "model/stack/stack.hpp"

namespace tbdsim {

/// A convolution that runs with less scratch memory than its fastest algorithm wants.
struct ReducedWorkspace {
  std::int32_t array = 0;  ///< of the trace
  Bytes bytes;             ///< what it asks for instead
  Seconds longer;          ///< than with what it wanted
};

/// What an allocator did with a trace.
struct Replay {
  bool fits = true;           ///< false: out of memory, the rest is what was reached
  Bytes allocated, reserved;  ///< peaks: rounded requests, and held from the driver
  Bytes least;                ///< peak of rounded requests, were no scratch memory asked for that can be done without
  std::vector<Bytes> held;    ///< from the driver, as each node of the last step ends
  std::vector<ReducedWorkspace> reduced;
};

/// Runs a training step twice through the stack's allocator, since the second finds the holes that the first left.
/// `persistent` are the sizes of arrays that stay (weights, optimiser state, batch, buckets), allocated first.
/// More than 2^60 bytes in all are not replayed: nothing has so much, and what exists at once is what there must be.
/// `costs` of each node say what convolutions do when their scratch memory cannot be had: they take the next algorithm, and
/// stay with it; empty: they run out of memory. `capacity`: what the driver can give; none: without end. Expects a stack that
/// allocates as it runs.
/// Source: pytorch/pytorch v1.13 aten/src/ATen/native/cudnn/Conv_v7.cpp, AlgoIterator::try_all, and v0.4 Conv.cpp,
/// chooseAlgorithm; tensorflow/tensorflow v1.15 stream_executor/cuda/cuda_dnn.cc, algorithm_no_scratch.
[[nodiscard]] Replay replay(const AllocationTrace& trace, std::span<const Bytes> persistent, std::span<const NodeCost> costs,
                            std::int32_t nodes, MemoryPlan plan, std::optional<Bytes> capacity);

/// A capacity, and the replay with it.
struct LeastCapacity {
  Bytes capacity;
  Replay played;
};

/// Where a least capacity is looked for: between one that is known not to be enough, or to be no more than must be, and one that
/// is enough.
struct CapacitySearch {
  Bytes low;
  LeastCapacity enough;
  bool upwards = false;  ///< from `low`, else from `enough`
};

/// The least capacity with which a replay fits, to within a part in 250, and what is played then. Blocks lie otherwise on another
/// device, so that a step may fail with a little more memory than it has run with: found is the boundary next to where the
/// search starts.
[[nodiscard]] LeastCapacity least_capacity(const AllocationTrace& trace, std::span<const Bytes> persistent,
                                           std::span<const NodeCost> costs, std::int32_t nodes, MemoryPlan plan,
                                           CapacitySearch search);

}  // namespace tbdsim
