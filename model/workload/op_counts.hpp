#pragma once
#include "model/units/quantity.hpp"
#include "model/workload/op_graph.hpp"
#include "model/workload/training_step.hpp"

namespace tbdsim {

/// Useful multiply-adds x 2 of one node for one sample. Only convolutions, matrix products and recurrent cells
/// count (as profilers count them); everything else is memory-bound and counts zero.
[[nodiscard]] Flop flop_per_sample(const OpGraph& graph, const StepNode& node);

/// Sums over a whole graph, in multiply-adds (2 FLOP each), of the forward and backward passes.
struct MacCounts {
  std::int64_t forward = 0, backward = 0;
};
[[nodiscard]] MacCounts macs_per_sample(const OpGraph& graph);

}  // namespace tbdsim
