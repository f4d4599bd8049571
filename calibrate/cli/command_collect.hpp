#pragma once
#include <string>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim::calibrate {

/// `collect --plan NAME|FILE -o FILE`: measures a plan on a GPU and appends each sample to the file as soon as it is complete;
/// what the file already holds is not measured again. Returns the exit status: 0; 1 if the user interrupted or the
/// budget left something; 3 without a usable GPU. Errors: bad options, a broken plan, a file of another device.
[[nodiscard]] Result<int> command_collect(const std::vector<std::string>& words);

}  // namespace tbdsim::calibrate
