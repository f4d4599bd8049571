#pragma once
#include <string>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim::calibrate {

/// `calibrate import FILE [--device NAME] [--precision NAME] [--library TEXT] [--op NAME] [--timing kernel|call] [--transposed]
/// -o OUT`: turns a table of another tool into samples, or a kernel summary into a table of kernels with what each does.
[[nodiscard]] Result<int> command_import(const std::vector<std::string>& words);

}  // namespace tbdsim::calibrate
