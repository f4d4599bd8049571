#pragma once
#include <string>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim::calibrate {

/// `calibrate host`: measures what this machine's CPU, and PyTorch on it, spend to issue operators, and says how fast one of
/// its threads is against the reference host. Returns the exit status. Errors: no Python with PyTorch, PyTorch without the
/// device "meta", another version than the reference's, an output that cannot be written.
[[nodiscard]] Result<int> command_host(const std::vector<std::string>& words);

}  // namespace tbdsim::calibrate
