#pragma once
#include <optional>
#include <vector>

#include "model/configuration/configuration.hpp"
#include "model/prediction/prediction.hpp"

namespace tbdsim {

/// Sets which tiers of the wiring the bytes of each axis pass. Returns for how long the tier between nodes that is busiest needs
/// for all of them; nothing inside one node.
Seconds tell_tiers(const Configuration& configuration, std::vector<AxisTraffic>& communication);

/// One row for each axis and tier of a step. Expects `tell_tiers` before.
[[nodiscard]] std::vector<LinkTraffic> links_by_tier(const Prediction& prediction);

}  // namespace tbdsim
