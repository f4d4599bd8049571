#include "model/units/parse.hpp"

#include <set>
#include <string>

#include "model/units/plausible.hpp"
#include "model/units/unit_table.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

std::string message(std::string_view text, Dimension wanted) {
  const auto value = parse_quantity(text, wanted);
  return value ? "" : value.error();
}

struct Row {
  const char* text;
  Dimension dimension;
  double base;
};

}  // namespace

TEST_CASE("each kind of unit") {
  using D = Dimension;
  const Row rows[] = {
      {"25 GB/s", D::bandwidth, 25e9},
      {"1.9 us", D::time, 1.9e-6},
      {"16 GiB", D::size, 16.0 * 1024 * 1024 * 1024},
      {"16 GB", D::size, 16e9},
      {"100 Gb/s", D::bandwidth, 12.5e9},
      {"100 Gbit/s", D::bandwidth, 12.5e9},
      {"8 b", D::size, 1.0},
      {"1 kb", D::size, 125.0},
      {"1 Kb", D::size, 125.0},
      {"1 KiB", D::size, 1024.0},
      {"1 MiB", D::size, 1048576.0},
      {"2 TiB/s", D::bandwidth, 2.0 * 1099511627776.0},
      {"15.7 TFLOP/s", D::flop_rate, 15.7e12},
      {"7.7 GFLOP", D::flop_count, 7.7e9},
      {"2 EFLOP", D::flop_count, 2e18},
      {"1530 MHz", D::frequency, 1.53e9},
      {"300 W", D::power, 300.0},
      {"1.2 kW", D::power, 1200.0},
      {"50 J", D::energy, 50.0},
      {"8000 USD", D::money, 8000.0},
      {"2 MUSD", D::money, 2e6},
      {"30 days", D::time, 2592000.0},
      {"3.6 USD/h", D::money_rate, 0.001},
      {"2 USD/s", D::money_rate, 2.0},
      {"85 %", D::ratio, 0.85},
      {"2 min", D::time, 120.0},
      {"2 h", D::time, 7200.0},
      {"1 d", D::time, 86400.0},
      {"3 ps", D::time, 3e-12},
      {"3 ns", D::time, 3e-9},
      {"3 ms", D::time, 3e-3},
      {"-4.5e-1 s", D::time, -0.45},
      {"25GB/s", D::bandwidth, 25e9},
      {"  25  GB/s\t", D::bandwidth, 25e9},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto measured = parse_measured(row.text);
    REQUIRE(measured);
    CHECK(measured->dimension == row.dimension);
    CHECK_THAT(measured->base, WithinRel(row.base, 1e-15));
    CHECK(parse_quantity(row.text, row.dimension) == measured->base);
  }
  CHECK(parse<Seconds>("2 ms") == Seconds(2e-3));
  CHECK(parse<UsdPerSecond>("1 USD/s") == UsdPerSecond(1.0));
}

TEST_CASE("the table of units: no spelling twice, every dimension has words that parse as itself") {
  std::set<std::string> names;
  for (const Unit& unit : all_units()) {
    CAPTURE(unit.name);
    CHECK(names.insert(unit.name).second);
    CHECK(unit.factor > 0.0);
    const auto one = parse_measured("1 " + unit.name);
    REQUIRE(one);
    CHECK(one->base == unit.factor);
    CHECK(one->dimension == unit.dimension);
    CHECK(parse_measured(words(unit.dimension).example)->dimension == unit.dimension);
    CHECK_FALSE(words(unit.dimension).noun.empty());
  }
  for (const Unit& unit : all_units()) {
    for (const ShownUnit& shown : shown_units(unit.dimension)) {
      const auto one = parse_measured("1 " + std::string(shown.name));
      CAPTURE(std::string(shown.name));
      REQUIRE(one);
      CHECK(one->base == shown.factor);
      CHECK(one->dimension == unit.dimension);
    }
  }
}

TEST_CASE("what is wrong with a quantity") {
  using D = Dimension;
  CHECK(message("25 GB", D::bandwidth) == R"(expected a bandwidth such as "25 GB/s", got "25 GB" (a size))");
  CHECK(message("25", D::bandwidth) == R"(expected a bandwidth such as "25 GB/s", got "25" (no unit))");
  CHECK(message("", D::size) == R"(expected a size such as "16 GiB", got "" (an empty string))");
  CHECK(message("  ", D::size) == R"(expected a size such as "16 GiB", got "  " (an empty string))");
  CHECK(message("fast", D::time) == R"(expected a time such as "1.9 us", got "fast" (not a number with a unit))");
  CHECK(message("+1 s", D::time) == R"(expected a time such as "1.9 us", got "+1 s" (not a number with a unit))");
  CHECK(message("inf s", D::time) == R"(expected a time such as "1.9 us", got "inf s" (not a finite number))");
  CHECK(message("nan s", D::time) == R"(expected a time such as "1.9 us", got "nan s" (not a finite number))");
  CHECK(message("1e999 s", D::time) == R"(expected a time such as "1.9 us", got "1e999 s" (a number out of range))");
  CHECK(message("1e300 EFLOP", D::flop_count) ==
        R"(expected a FLOP count such as "7.7 GFLOP", got "1e300 EFLOP" (a number out of range))");
  CHECK(message("0.5", D::time) == R"(expected a time such as "1.9 us", got "0.5" (no unit))");
  CHECK(message("3 \"s\n", D::time) == R"(expected a time such as "1.9 us", got "3 \"s\n" (unknown unit "\"s\n"))");
  CHECK(parse_measured("25").error() == R"(expected a number with its unit such as "25 GB/s", got "25" (no unit))");
  CHECK(parse_measured("25 furlongs").error() ==
        R"(expected a number with its unit such as "25 GB/s", got "25 furlongs" (unknown unit "furlongs"))");
  CHECK(parse_quantity("0.85", D::ratio) == 0.85);
  CHECK(message("1 s", D::ratio) == R"(expected a ratio such as "85 %", got "1 s" (a time))");
}

TEST_CASE("what no machine has is refused beyond its bound and taken at it") {
  using D = Dimension;
  CHECK(message("1e12 GiB", D::size) ==
        R"(expected a size such as "16 GiB", got "1e12 GiB" (above 1000 PB, the most that is accepted))");
  CHECK(message("1e300 ms", D::time) ==
        R"(expected a time such as "1.9 us", got "1e300 ms" (above 11600 d, the most that is accepted))");
  CHECK(message("5e-324 TFLOP/s", D::flop_rate) ==
        R"(expected a FLOP rate such as "15.7 TFLOP/s", got "5e-324 TFLOP/s" (below 1 FLOP/s, the least that is accepted))");
  CHECK(message("1e-13 TFLOP/s", D::flop_rate) ==
        R"(expected a FLOP rate such as "15.7 TFLOP/s", got "1e-13 TFLOP/s" (below 1 FLOP/s, the least that is accepted))");
  CHECK(message("-1e19 B", D::size).find("above 1000 PB") != std::string::npos);
  for (const Unit& unit : all_units()) {
    CAPTURE(unit.name);
    const PlausibleMagnitudes bounds = plausible(unit.dimension);
    CHECK(bounds.least < bounds.most);
    CHECK(parse_quantity("0 " + unit.name, unit.dimension) == 0.0);
    CHECK(parse_quantity("1 " + unit.name, unit.dimension) == unit.factor);
  }
  CHECK(parse_quantity("1000 PB", D::size) == 1e18);
  CHECK_FALSE(parse_quantity("1000.0001 PB", D::size));
  CHECK(parse_quantity("1 b", D::size) == 0.125);
  CHECK_FALSE(parse_quantity("0.999 b", D::size));
}

TEST_CASE("an unknown unit gets the nearest of the wanted kind") {
  using D = Dimension;
  const auto suggestion = [](std::string_view text, D wanted) {
    const std::string all = message(text, wanted);
    const std::size_t start = all.find("did you mean ");
    return start == std::string::npos ? "" : all.substr(start + 13, all.size() - start - 15);
  };
  CHECK(suggestion("25 GX/s", D::bandwidth) == "\"GB/s\"");
  CHECK(suggestion("25 GBs", D::bandwidth) == "\"GB/s\"");
  CHECK(suggestion("25 Gbps", D::bandwidth) == "\"Gb/s\" (bits), or \"GB/s\" (bytes)");
  CHECK(suggestion("25 GBps", D::bandwidth) == "\"GB/s\" (bytes), or \"Gb/s\" (bits)");
  CHECK(suggestion("1.5 GHZ", D::frequency) == "\"GHz\"");
  CHECK(suggestion("1.5 ghz", D::frequency) == "\"GHz\"");
  CHECK(suggestion("16 gb", D::size) == "\"GB\" or \"Gb\"");
  CHECK(suggestion("16 gib", D::size) == "\"GiB\"");
  CHECK(suggestion("15 TFLOPS", D::flop_rate) == "\"TFLOP/s\"");
  CHECK(suggestion("15 TFLOPs", D::flop_count) == "\"TFLOP\"");
  CHECK(suggestion("2 \xC2\xB5s", D::time) == "\"us\"");
  CHECK(suggestion("2 sec", D::time) == "\"s\"");
  CHECK(suggestion("2 $/h", D::money_rate) == "\"USD/h\"");
  CHECK(suggestion("250 watts", D::power).empty());
}
