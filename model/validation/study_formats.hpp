#pragma once
#include <span>

#include "model/input/file_format.hpp"

namespace tbdsim {

/// Scenarios and tables of measured runs: every key and column that their readers know.
[[nodiscard]] std::span<const FileFormat> study_formats();

}  // namespace tbdsim
