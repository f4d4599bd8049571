#include "model/units/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <vector>

#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"
#include "model/units/format.hpp"
#include "model/units/plausible.hpp"
#include "model/units/unit_table.hpp"

namespace tbdsim {
namespace {

/// The table of units, made once.
const std::vector<Unit>& known_units() {
  static const std::vector<Unit> units = all_units();
  return units;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Spellings that are common elsewhere and too far from ours for `nearest`.
struct Slip {
  std::string_view spelling;
  std::string_view unit;
};
constexpr Slip kSlips[] = {{"\xC2\xB5s", "us"}, {"\xCE\xBCs", "us"}, {"sec", "s"},    {"msec", "ms"},   {"usec", "us"},
                           {"hr", "h"},         {"hours", "h"},      {"$", "USD"},    {"$/h", "USD/h"}, {"USD/hr", "USD/h"},
                           {"$/s", "USD/s"},    {"bytes", "B"},      {"percent", "%"}};

/// "Gbps" is of bits, "GBps" of bytes; both are written carelessly. Empty: no such unit.
std::string of_bits_or_bytes(std::string_view unit) {
  constexpr std::string_view kPrefixes = "kKMGT";
  const bool prefixed = !unit.empty() && kPrefixes.find(unit.front()) != std::string_view::npos;
  const std::string_view rest = prefixed ? unit.substr(1) : unit;
  if (rest != "bps" && rest != "Bps" && rest != "bit/s") return "";
  const std::string prefix = prefixed ? (unit.front() == 'K' ? "k" : std::string(1, unit.front())) : "";
  return rest == "Bps" ? fmt::format(", did you mean \"{0}B/s\" (bytes), or \"{0}b/s\" (bits)?", prefix)
                       : fmt::format(", did you mean \"{0}b/s\" (bits), or \"{0}B/s\" (bytes)?", prefix);
}

std::string did_you_mean(std::string_view unit, std::optional<Dimension> wanted) {
  for (const Slip& slip : kSlips) {
    if (slip.spelling == unit) return fmt::format(", did you mean \"{}\"?", slip.unit);
  }
  if (std::string rates = of_bits_or_bytes(unit); !rates.empty()) return rates;
  std::vector<std::string> candidates;
  std::vector<Unit> units = known_units();
  std::stable_partition(units.begin(), units.end(), [&](const Unit& u) { return wanted && u.dimension == *wanted; });
  std::string same_but_case;
  for (const Unit& u : units) {
    candidates.push_back(u.name);
    if (fold_name(u.name) != fold_name(unit)) continue;
    same_but_case += fmt::format("{}\"{}\"", same_but_case.empty() ? "" : " or ", u.name);
  }
  if (!same_but_case.empty()) return fmt::format(", did you mean {}?", same_but_case);
  const std::optional<std::string> near = nearest(unit, candidates);
  return near ? fmt::format(", did you mean \"{}\"?", *near) : "";
}

/// What is wrong with the text, for the brackets of the message.
using Reading = tl::expected<Measured, std::string>;

/// A text without unit reads as a ratio, with `has_unit` false.
Reading read(std::string_view text, std::optional<Dimension> wanted, bool& has_unit) {
  has_unit = false;
  text = trimmed(text);
  if (text.empty()) return tl::make_unexpected(std::string("an empty string"));
  double number = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status == std::errc::invalid_argument) return tl::make_unexpected(std::string("not a number with a unit"));
  if (status == std::errc::result_out_of_range) return tl::make_unexpected(std::string("a number out of range"));
  if (!std::isfinite(number)) return tl::make_unexpected(std::string("not a finite number"));
  const std::string_view name = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  if (name.empty()) return Measured{number, Dimension::ratio};
  const std::vector<Unit>& units = known_units();
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == name; });
  if (unit == units.end()) {
    return tl::make_unexpected(fmt::format("unknown unit {}{}", quoted(name, 20), did_you_mean(name, wanted)));
  }
  has_unit = true;
  if (!std::isfinite(number * unit->factor)) return tl::make_unexpected(std::string("a number out of range"));
  return Measured{number * unit->factor, unit->dimension};
}

std::string unexpected_text(std::string_view expected, std::string_view text, std::string_view what) {
  return fmt::format("expected {}, got {} ({})", expected, quoted(text), what);
}

}  // namespace

DimensionWords words(Dimension dimension) {
  switch (dimension) {
    case Dimension::time:
      return {"a time", "1.9 us"};
    case Dimension::size:
      return {"a size", "16 GiB"};
    case Dimension::flop_count:
      return {"a FLOP count", "7.7 GFLOP"};
    case Dimension::bandwidth:
      return {"a bandwidth", "25 GB/s"};
    case Dimension::flop_rate:
      return {"a FLOP rate", "15.7 TFLOP/s"};
    case Dimension::frequency:
      return {"a frequency", "1530 MHz"};
    case Dimension::power:
      return {"a power", "300 W"};
    case Dimension::energy:
      return {"an energy", "50 J"};
    case Dimension::money:
      return {"an amount of money", "8000 USD"};
    case Dimension::money_rate:
      return {"a price per time", "3.06 USD/h"};
    case Dimension::ratio:
      return {"a ratio", "85 %"};
  }
  return {};
}

tl::expected<Measured, std::string> parse_measured(std::string_view text) {
  constexpr std::string_view kExpected = "a number with its unit such as \"25 GB/s\"";
  bool has_unit = false;
  const Reading reading = read(text, std::nullopt, has_unit);
  if (!reading) return tl::make_unexpected(unexpected_text(kExpected, text, reading.error()));
  if (!has_unit) return tl::make_unexpected(unexpected_text(kExpected, text, "no unit"));
  return *reading;
}

tl::expected<double, std::string> parse_quantity(std::string_view text, Dimension wanted) {
  const auto refuse = [&](std::string_view what) {
    const DimensionWords wanted_words = words(wanted);
    return tl::make_unexpected(
        unexpected_text(fmt::format("{} such as \"{}\"", wanted_words.noun, wanted_words.example), text, what));
  };
  bool has_unit = false;
  const Reading reading = read(text, wanted, has_unit);
  if (!reading) return refuse(reading.error());
  if (!has_unit && wanted != Dimension::ratio) return refuse("no unit");
  if (reading->dimension != wanted) return refuse(words(reading->dimension).noun);
  const PlausibleMagnitudes bounds = plausible(wanted);
  const double magnitude = std::abs(reading->base);
  if (magnitude > bounds.most)
    return refuse(fmt::format("above {}, the most that is accepted", format(Measured{bounds.most, wanted})));
  if (magnitude != 0.0 && magnitude < bounds.least)
    return refuse(fmt::format("below {}, the least that is accepted", format(Measured{bounds.least, wanted})));
  return reading->base;
}

}  // namespace tbdsim
