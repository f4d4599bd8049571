#include "model/units/unit_table.hpp"

#include <string>

namespace tbdsim {
namespace {

struct Prefix {
  std::string_view symbol;
  double factor;
};

// Sources: SI Brochure, 9th edition, table 7 (decimal); IEC 80000-13:2008, clause 4 (binary).
constexpr Prefix kPlain{"", 1.0};
constexpr Prefix kDecimal[] = {kPlain, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {"E", 1e18}};
constexpr Prefix kBinary[] = {
    {"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}, {"Ti", 1099511627776.0}, {"Pi", 1125899906842624.0}};
constexpr double kBytesPerBit = 0.125;
constexpr double kMinute = 60.0, kHour = 3600.0, kDay = 86400.0;

class Builder {
 public:
  void add(std::string name, double factor, Dimension dimension) { units_.push_back({std::move(name), factor, dimension}); }
  /// `symbol` with each decimal prefix up to and including `last`.
  void decimal(std::string_view symbol, double worth, Dimension dimension, std::string_view last) {
    for (const Prefix& prefix : kDecimal) {
      add(std::string(prefix.symbol) + std::string(symbol), prefix.factor * worth, dimension);
      if (prefix.symbol == last) return;
    }
  }
  /// Bytes, binary bytes and bits, each followed by `suffix`; "Kb" is as common as "kb" for bits.
  void bytes_and_bits(const std::string& suffix, Dimension dimension) {
    decimal("B" + suffix, 1.0, dimension, "P");
    for (const Prefix& prefix : kBinary) add(std::string(prefix.symbol) + "B" + suffix, prefix.factor, dimension);
    decimal("b" + suffix, kBytesPerBit, dimension, "T");
    add("Kb" + suffix, 1e3 * kBytesPerBit, dimension);
    decimal("bit" + suffix, kBytesPerBit, dimension, "T");
  }
  [[nodiscard]] std::vector<Unit> take() { return std::move(units_); }

 private:
  std::vector<Unit> units_;
};

}  // namespace

std::vector<Unit> all_units() {
  Builder units;
  for (const auto& [name, factor] : {Prefix{"s", 1.0},
                                     {"ms", 1e-3},
                                     {"us", 1e-6},
                                     {"ns", 1e-9},
                                     {"ps", 1e-12},
                                     {"min", kMinute},
                                     {"h", kHour},
                                     {"d", kDay},
                                     {"day", kDay},
                                     {"days", kDay}}) {
    units.add(std::string(name), factor, Dimension::time);
  }
  units.bytes_and_bits("", Dimension::size);
  units.decimal("FLOP", 1.0, Dimension::flop_count, "E");
  units.bytes_and_bits("/s", Dimension::bandwidth);
  units.decimal("FLOP/s", 1.0, Dimension::flop_rate, "E");
  units.decimal("Hz", 1.0, Dimension::frequency, "G");
  units.decimal("W", 1.0, Dimension::power, "M");
  units.decimal("J", 1.0, Dimension::energy, "G");
  units.decimal("USD", 1.0, Dimension::money, "M");
  units.add("USD/h", 1.0 / kHour, Dimension::money_rate);
  units.add("USD/s", 1.0, Dimension::money_rate);
  units.add("%", 0.01, Dimension::ratio);
  return units.take();
}

std::vector<ShownUnit> shown_units(Dimension dimension) {
  switch (dimension) {
    case Dimension::time:
      // People say "90 s" and "36 h": minutes, hours and days begin only at two of them.
      return {{"ps", 1e-12},           {"ns", 1e-9},       {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0, 120.0},
              {"min", kMinute, 120.0}, {"h", kHour, 48.0}, {"d", kDay}};
    case Dimension::size:
      return {{"B", 1.0}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"PB", 1e15}};
    case Dimension::flop_count:
      return {{"FLOP", 1.0}, {"kFLOP", 1e3}, {"MFLOP", 1e6}, {"GFLOP", 1e9}, {"TFLOP", 1e12}, {"PFLOP", 1e15}, {"EFLOP", 1e18}};
    case Dimension::bandwidth:
      return {{"B/s", 1.0}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}, {"PB/s", 1e15}};
    case Dimension::flop_rate:
      return {{"FLOP/s", 1.0},   {"kFLOP/s", 1e3},  {"MFLOP/s", 1e6}, {"GFLOP/s", 1e9},
              {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}, {"EFLOP/s", 1e18}};
    case Dimension::frequency:
      return {{"Hz", 1.0}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};
    case Dimension::power:
      return {{"W", 1.0}, {"kW", 1e3}, {"MW", 1e6}};
    case Dimension::energy:
      return {{"J", 1.0}, {"kJ", 1e3}, {"MJ", 1e6}, {"GJ", 1e9}};
    case Dimension::money:
      return {{"USD", 1.0}};
    case Dimension::money_rate:
      return {{"USD/h", 1.0 / kHour}};
    case Dimension::ratio:
      return {{"%", 0.01}};
  }
  return {};
}

}  // namespace tbdsim
