#pragma once
#include <span>

#include "model/input/file_format.hpp"

namespace tbdsim {

/// Keys of the files of hardware/frameworks.
[[nodiscard]] std::span<const FileFormat> framework_format();

}  // namespace tbdsim
