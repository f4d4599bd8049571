#pragma once
#include <string>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim::calibrate {

/// `calibrate fit --samples FILE... [--device NAME | --hw FILE] -o OUT.toml`: parameters of one board, as a device file.
/// `calibrate fit --shared --samples FILE... -o OUT.toml`: what boards share, and all boards (hardware/kernels.toml).
/// Gives the exit code.
[[nodiscard]] Result<int> command_fit(const std::vector<std::string>& words);

}  // namespace tbdsim::calibrate
