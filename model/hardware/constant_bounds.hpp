#pragma once
#include <span>
#include <string_view>

namespace tbdsim {

/// Between which values a constant of kernels.toml can be what it is named after. A value beyond them fits samples by an effect
/// that the form does not have, and carries it to shapes that do not.
struct ConstantBounds {
  std::string_view key;
  double low, high;
  double tensor_high;  ///< the same of products on tensor cores, whose k-steps are shorter
  std::string_view reason;
  [[nodiscard]] constexpr double most(bool tensor) const { return tensor ? tensor_high : high; }
};

[[nodiscard]] std::span<const ConstantBounds> constant_bounds();
/// Of one key of the table. Expects that the table has it.
[[nodiscard]] const ConstantBounds& constant_bounds(std::string_view key);

}  // namespace tbdsim
