#pragma once
#include <string>
#include <vector>

#include "model/cost/kernel_model.hpp"

namespace tbdsim {

/// What a user should know of the precision of a step: kernels that it slows down, and what stands behind its figures.
[[nodiscard]] std::vector<std::string> precision_notices(const OpGraph& graph, const KernelModel& kernels);

}  // namespace tbdsim
