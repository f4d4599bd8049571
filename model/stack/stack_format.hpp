#pragma once
#include <span>

#include "model/input/file_format.hpp"

namespace tbdsim {

/// A stack: every key that its readers know.
[[nodiscard]] std::span<const FileFormat> stack_format();

}  // namespace tbdsim
