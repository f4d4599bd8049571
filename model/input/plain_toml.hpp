#pragma once
#include <optional>
#include <string_view>

#include "model/input/toml_value.hpp"

namespace tbdsim {

/// Parses text in the part of TOML that the catalogue is written in, in a seventh of the TOML library's time.
///
/// That part: `[a.b]` and `[[a.b]]`, bare keys, dotted ones too, basic strings on one line with no escapes but `\"` and `\\`,
/// decimal numbers, booleans, arrays, inline tables, comments. What it returns is what `parse_toml` returns of the same text,
/// places included, and the text has no `binary_problem` and no `nesting_problem`. Nothing where the text holds anything else,
/// mistakes among it: the library then decides, and words the error.
[[nodiscard]] std::optional<TomlValue> parse_plain_toml(std::string_view text);

}  // namespace tbdsim
