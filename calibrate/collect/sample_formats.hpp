#pragma once
#include <span>
#include <string>

#include "model/input/file_format.hpp"

namespace tbdsim::calibrate {

/// Kernel samples and plans of measurements: every column and key that their readers know.
[[nodiscard]] std::span<const FileFormat> sample_formats();
/// The same as Markdown, with the shape of every family.
[[nodiscard]] std::string sample_formats_page();

}  // namespace tbdsim::calibrate
