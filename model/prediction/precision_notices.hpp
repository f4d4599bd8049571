#pragma once
#include <span>
#include <string>
#include <vector>

#include "model/cost/kernel_model.hpp"

namespace tbdsim {

/// What a user should know of the precision of a step: kernels that it slows down, and which of them were
/// measured on no such board. `costs` are those of the nodes of the step.
[[nodiscard]] std::vector<std::string> precision_notices(const OpGraph& graph, const KernelModel& kernels,
                                                         std::span<const NodeCost> costs);

}  // namespace tbdsim
