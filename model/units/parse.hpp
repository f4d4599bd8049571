#pragma once
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "model/units/dimension.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Reads "25 GB/s", "1.9 us", "16 GiB", "15.7 TFLOP/s", "1530 MHz", "300 W", "3.06 USD/h", "100 Gb/s", "85 %".
/// GB is 10^9, GiB is 2^30, Gb and Gbit are bits (1/8 byte); case counts. Error text: what is wrong with the text, without the
/// key (for example `expected a bandwidth such as "25 GB/s", got "25 GB" (a size)`).
[[nodiscard]] tl::expected<Measured, std::string> parse_measured(std::string_view text);

/// As above, and the dimension must be `wanted`. A ratio may also be a plain number: "0.85" is "85 %".
[[nodiscard]] tl::expected<double, std::string> parse_quantity(std::string_view text, Dimension wanted);

/// Dimension that corresponds to a quantity type.
template <class Q>
constexpr Dimension dimension_of();
template <>
constexpr Dimension dimension_of<Seconds>() {
  return Dimension::time;
}
template <>
constexpr Dimension dimension_of<Bytes>() {
  return Dimension::size;
}
template <>
constexpr Dimension dimension_of<Flop>() {
  return Dimension::flop_count;
}
template <>
constexpr Dimension dimension_of<BytesPerSecond>() {
  return Dimension::bandwidth;
}
template <>
constexpr Dimension dimension_of<FlopPerSecond>() {
  return Dimension::flop_rate;
}
template <>
constexpr Dimension dimension_of<Hertz>() {
  return Dimension::frequency;
}
template <>
constexpr Dimension dimension_of<Watts>() {
  return Dimension::power;
}
template <>
constexpr Dimension dimension_of<Joules>() {
  return Dimension::energy;
}
template <>
constexpr Dimension dimension_of<Usd>() {
  return Dimension::money;
}
template <>
constexpr Dimension dimension_of<UsdPerSecond>() {
  return Dimension::money_rate;
}

template <class Q>
[[nodiscard]] tl::expected<Q, std::string> parse(std::string_view text) {
  return parse_quantity(text, dimension_of<Q>()).map([](double base) { return Q(base); });
}

}  // namespace tbdsim
