#pragma once
#include <span>

#include "model/input/file_format.hpp"

namespace tbdsim {

/// The files of hardware/ that a user may write: every key that their readers know.
[[nodiscard]] std::span<const FileFormat> hardware_formats();

}  // namespace tbdsim
