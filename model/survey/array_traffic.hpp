#pragma once
#include <vector>

#include "model/engine/timeline.hpp"
#include "model/schedule/lowered_step.hpp"
#include "model/survey/network_profile.hpp"

namespace tbdsim {

/// When each array or bucket of the steady iteration travels, and how long kernels wait for it. Most exposed first.
[[nodiscard]] std::vector<ArrayTraffic> array_traffic(const OpGraph& graph, const LoweredStep& step,
                                                      const engine::Timeline& timeline);

}  // namespace tbdsim
