#pragma once
#include <string>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim::calibrate {

/// `calibrate anchor RUNS.csv -o FILE.toml [--hardware DIR]`: fits the multipliers of model/configuration/anchor_file.hpp to
/// measured steps, a measured-run table with rows of step_time_s or throughput.
[[nodiscard]] Result<int> command_anchor(const std::vector<std::string>& words);

}  // namespace tbdsim::calibrate
