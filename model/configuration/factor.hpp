#pragma once
#include <optional>
#include <string>

namespace tbdsim {

/// `2x` as 2, of an assignment that multiplies what stands there; nothing for other values.
[[nodiscard]] std::optional<double> factor_of(const std::string& value);

}  // namespace tbdsim
