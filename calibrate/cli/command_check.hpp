#pragma once
#include <string>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim::calibrate {

/// `calibrate check --samples FILE... [--hw NAME|FILE] [--leave-out board|architecture [--train FILE...]]`: how well parameters
/// predict samples. Gives the exit code.
[[nodiscard]] Result<int> command_check(const std::vector<std::string>& words);

}  // namespace tbdsim::calibrate
