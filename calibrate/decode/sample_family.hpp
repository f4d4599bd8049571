#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tbdsim::calibrate {

/// What the value of a shape key may be.
enum class KeyKind {
  size,   ///< a whole number of at least 1
  count,  ///< a whole number, 0 included
  flag,   ///< 0 or 1
  text,   ///< one of `words`, or any text where `words` is empty
};

/// One key of `key=value;...` in the `shape` column.
struct ShapeKey {
  std::string_view name;
  KeyKind kind = KeyKind::size;
  std::span<const std::string_view> words = {};
  std::optional<std::int64_t> absent = {};  ///< what a sample without the key means by that; none: every sample has it
};

/// One kind of kernel of a sample file and the keys that its `shape` has: all of them but those with a value for their absence. At
/// most one is text.
struct SampleFamily {
  std::string_view name;  ///< "conv"
  std::span<const ShapeKey> keys;
};

/// Products that go on for seconds. Flags of such a sample tell the beginning: `burst_s` a product, `burst_clock_mhz`.
inline constexpr std::string_view kLoadFamily = "load";

/// Every family that a sample file may hold.
[[nodiscard]] std::span<const SampleFamily> sample_families();

/// The family called `name`; null if there is none.
[[nodiscard]] const SampleFamily* find_family(std::string_view name);

}  // namespace tbdsim::calibrate
