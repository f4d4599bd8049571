#pragma once
#include <string_view>
#include <vector>

namespace tbdsim::calibrate {

/// Lines of a text without their ends, empty ones too.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);
/// Parts between `separator`, without blanks around them.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
/// Words between blanks; `least`: of so many blanks at least, so that single ones stay inside a word.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text, std::size_t least = 1);

}  // namespace tbdsim::calibrate
