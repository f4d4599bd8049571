#pragma once
#include <string>

#include "calibrate/cli/arguments.hpp"

namespace tbdsim::calibrate {

/// Whether a file begins as a trace does that can be read. What cannot be opened does not.
[[nodiscard]] bool is_trace(const std::string& path);

/// Breaks a trace down, prints where its time goes, and writes every part to `-o`. With `--hw` and `--model`, families beside the
/// predicted ones. Errors: of the trace, of the prediction, options that have no effect on traces.
[[nodiscard]] Result<int> import_trace(const std::string& path, const Arguments& arguments);

}  // namespace tbdsim::calibrate
