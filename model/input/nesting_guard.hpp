#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "model/support/result.hpp"

namespace tbdsim {

/// Refuses TOML that nests deeper than any sane file: more than 16 parts in one dotted key, or more than 32 open
/// brackets. The TOML library descends, and frees, level by level on the call stack and bounds only the brackets,
/// so without this a few megabytes of "a.a.a..." would overflow it.
[[nodiscard]] std::optional<Error> nesting_problem(std::string_view text, const std::string& name);

}  // namespace tbdsim
