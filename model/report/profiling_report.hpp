#pragma once
#include <string>

#include "model/prediction/profiling_cost.hpp"

namespace tbdsim {

/// What profiling costs, in a few lines: before, trace, counters. `step` is that of the prediction.
[[nodiscard]] std::string profiling_text(const ProfilingCost& cost, Seconds step);

}  // namespace tbdsim
