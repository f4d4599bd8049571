#include "model/units/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "model/units/unit_table.hpp"

namespace tbdsim {
namespace {

/// Beyond these a plain decimal number is harder to read than one with an exponent.
constexpr double kLeastPlain = 1e-3, kMostPlain = 1e6;

double rounded(double value, int digits) { return std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr); }

/// A number that is already rounded to `digits` significant digits, without superfluous zeros.
std::string number_text(double value, int digits) {
  const double size = std::abs(value);
  if (!std::isfinite(value) || (size > 0.0 && size < kLeastPlain) || size >= kMostPlain) {
    return fmt::format("{:.{}g}", value, digits);
  }
  const int whole_digits = size > 0.0 ? static_cast<int>(std::floor(std::log10(size))) + 1 : 1;
  std::string text = fmt::format("{:.{}f}", value, std::max(0, digits - whole_digits));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string format(Measured value, int digits) {
  digits = std::max(digits, 1);
  const std::vector<ShownUnit> units = shown_units(value.dimension);
  const auto zero = std::find_if(units.begin(), units.end(), [](const ShownUnit& unit) { return unit.factor == 1.0; });
  if (value.base == 0.0) return fmt::format("0 {}", (zero == units.end() ? units.front() : *zero).name);
  // The unit is chosen after rounding: 999.96 MB is "1 GB", never "1000 MB".
  const auto fits = [&](const ShownUnit& unit) { return std::abs(rounded(value.base / unit.factor, digits)) < unit.limit; };
  const auto found = std::find_if(units.begin(), units.end(), fits);
  const ShownUnit& unit = found == units.end() ? units.back() : *found;
  return fmt::format("{} {}", number_text(rounded(value.base / unit.factor, digits), digits), unit.name);
}

std::string format(Seconds value, int digits) { return format(Measured{value.base(), Dimension::time}, digits); }
std::string format(Bytes value, int digits) { return format(Measured{value.base(), Dimension::size}, digits); }
std::string format(Flop value, int digits) { return format(Measured{value.base(), Dimension::flop_count}, digits); }
std::string format(BytesPerSecond value, int digits) { return format(Measured{value.base(), Dimension::bandwidth}, digits); }
std::string format(FlopPerSecond value, int digits) { return format(Measured{value.base(), Dimension::flop_rate}, digits); }
std::string format(Hertz value, int digits) { return format(Measured{value.base(), Dimension::frequency}, digits); }
std::string format(Watts value, int digits) { return format(Measured{value.base(), Dimension::power}, digits); }
std::string format(Joules value, int digits) { return format(Measured{value.base(), Dimension::energy}, digits); }
std::string format(Usd value, int digits) { return format(Measured{value.base(), Dimension::money}, digits); }
std::string format(UsdPerSecond value, int digits) { return format(Measured{value.base(), Dimension::money_rate}, digits); }

}  // namespace tbdsim
