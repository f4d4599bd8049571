#pragma once
#include <span>

#include "model/input/file_format.hpp"

namespace tbdsim {

/// A network: every key that its readers know.
[[nodiscard]] std::span<const FileFormat> network_format();

}  // namespace tbdsim
