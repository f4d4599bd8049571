#pragma once
#include "model/cost/occupancy.hpp"
#include "model/schedule/lowered_step.hpp"

namespace tbdsim {

/// What a profiler would show of a kernel besides its time, as the model has it.
struct KernelCharacter {
  double occupancy = 0.0;  ///< achieved: resident warps over those that fit, 0..1
  StallShares stalls{};
};

/// Of one node of a step.
[[nodiscard]] KernelCharacter characterize(const OpGraph& graph, const StepNode& node, const NodeCost& cost, double batch,
                                           const Device& device);

}  // namespace tbdsim
