#pragma once
#include <string>

#include "model/survey/network_profile.hpp"

namespace tbdsim {

/// Verdict, least bandwidths and the `most` most exposed arrays, within 80 columns.
[[nodiscard]] std::string network_table(const NetworkProfile& profile, int most);
/// One object of schema "tbdsim.network/1": every array.
[[nodiscard]] std::string network_json(const NetworkProfile& profile);
/// One line per array.
[[nodiscard]] std::string network_csv(const NetworkProfile& profile);

}  // namespace tbdsim
