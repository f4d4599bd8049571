#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/decode/sample_table.hpp"

namespace tbdsim::calibrate {

/// Reads `key=value;...` of `family` into `sample.shape` and `sample.kind`. Returns every problem, without the name of
/// the column: unknown, repeated and missing keys, values that their keys cannot have.
[[nodiscard]] std::vector<std::string> read_shape(std::string_view text, const SampleFamily& family, Sample& sample);

/// `unknown NOUN "word"` with the nearest of `known`, else with all of them.
[[nodiscard]] std::string unknown_word(std::string_view noun, std::string_view word, const std::vector<std::string>& known);

}  // namespace tbdsim::calibrate
