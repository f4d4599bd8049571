#pragma once
#include <string>
#include <vector>

namespace tbdsim::calibrate {

/// `fit --samples FILE... --hardware DIR -o OUT.toml`. Returns the exit code: 0 done, 2 bad usage or input.
[[nodiscard]] int command_fit(const std::vector<std::string>& arguments);

}  // namespace tbdsim::calibrate
