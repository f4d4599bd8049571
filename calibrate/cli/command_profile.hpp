#pragma once
#include <string>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim::calibrate {

/// `profile [--skip N] [--iterations K] [--passes N] [-o FILE] -- PROGRAM ...`: runs the program with the recorder loaded, then
/// finds the iterations in what ran on the device and prints their summary. `profile --recording FILE` reads an earlier recording
/// and needs no GPU. Returns the exit status: 0; that of the program where it fails; 3 without a usable GPU. Errors: bad options,
/// a recording without steady iterations.
[[nodiscard]] Result<int> command_profile(const std::vector<std::string>& words);

}  // namespace tbdsim::calibrate
