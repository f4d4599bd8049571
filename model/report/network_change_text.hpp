#pragma once
#include <string>

#include "model/survey/network_change.hpp"

namespace tbdsim {

/// "parameters 25.6 M to 25.6 M (+0.1 %), ...", before and after each figure.
[[nodiscard]] std::string network_change_text(const NetworkChange& change);

}  // namespace tbdsim
