#pragma once
#include <string>

#include "calibrate/decode/sample_table.hpp"

namespace tbdsim::calibrate {

/// `key=value;...` of a sample, keys in the order of its family.
[[nodiscard]] std::string shape_text(const Sample& sample);

/// First line of a sample file, with its line end.
[[nodiscard]] std::string sample_header();

/// One row of a sample file, with its line end; what is absent stays empty. Times keep nine digits. Reading it back
/// gives the same sample.
[[nodiscard]] std::string sample_row(const Sample& sample);

}  // namespace tbdsim::calibrate
