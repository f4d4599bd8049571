#pragma once
#include <string>

#include "model/survey/axis_profile.hpp"

namespace tbdsim {

/// Traffic and waits by axis, bytes by axis and tier, and the network that the job needs, within 80 columns.
[[nodiscard]] std::string axes_table(const AxisProfile& profile);
/// One object of schema "tbdsim.network/1"; `layers` is empty, `communication` has the axes.
[[nodiscard]] std::string axes_json(const AxisProfile& profile);
/// One line per axis and tier.
[[nodiscard]] std::string axes_csv(const AxisProfile& profile);

}  // namespace tbdsim
