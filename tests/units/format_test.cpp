#include "model/units/format.hpp"
#include "model/units/parse.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("quantities as people write them") {
  CHECK(format(Seconds(10.4e-3)) == "10.4 ms");
  CHECK(format(BytesPerSecond(25e9)) == "25 GB/s");
  CHECK(format(Bytes(1.37e9)) == "1.37 GB");
  CHECK(format(FlopPerSecond(15.7e12)) == "15.7 TFLOP/s");
  CHECK(format(Hertz(1.53e9)) == "1.53 GHz");
  CHECK(format(Watts(300.0)) == "300 W");
  CHECK(format(Flop(7.7e9)) == "7.7 GFLOP");
  CHECK(format(Joules(50.0)) == "50 J");
  CHECK(format(Usd(8000.0), 4) == "8000 USD");
  CHECK(format(UsdPerSecond(3.06 / 3600.0)) == "3.06 USD/h");
  CHECK(format(Measured{0.85, Dimension::ratio}) == "85 %");
  CHECK(format(Seconds(-2.5e-6)) == "-2.5 us");
  CHECK(format(Bytes(123456.0), 2) == "120 kB");
  CHECK(format(Bytes(123456.0), 6) == "123.456 kB");
  CHECK(format(Watts(0.25)) == "0.25 W");
}

TEST_CASE("zero has the base unit") {
  CHECK(format(Seconds(0.0)) == "0 s");
  CHECK(format(Bytes(0.0)) == "0 B");
  CHECK(format(BytesPerSecond(0.0)) == "0 B/s");
  CHECK(format(UsdPerSecond(0.0)) == "0 USD/h");
}

TEST_CASE("the next unit begins where rounding reaches it") {
  CHECK(format(Bytes(999.4e6)) == "999 MB");
  CHECK(format(Bytes(999.6e6)) == "1 GB");
  CHECK(format(Seconds(0.9994)) == "999 ms");
  CHECK(format(Seconds(0.9996)) == "1 s");
  CHECK(format(Seconds(119.4)) == "119 s");
  CHECK(format(Seconds(119.6)) == "1.99 min");
  CHECK(format(Seconds(120.0)) == "2 min");
  CHECK(format(Seconds(119.0 * 60.0)) == "119 min");
  CHECK(format(Seconds(7200.0)) == "2 h");
  CHECK(format(Seconds(47.0 * 3600.0)) == "47 h");
  CHECK(format(Seconds(48.0 * 3600.0)) == "2 d");
}

TEST_CASE("beyond the last prefix an exponent takes over") {
  CHECK(format(Bytes(1e21)) == "1e+06 PB");
  CHECK(format(Bytes(2e20)) == "200000 PB");
  CHECK(format(Seconds(1e-15)) == "0.001 ps");
  CHECK(format(Seconds(1.5e-16)) == "0.00015 ps");
  CHECK(format(Seconds(1.5e-18)) == "1.5e-06 ps");
  CHECK(format(Seconds(std::numeric_limits<double>::infinity())) == "inf d");
}

TEST_CASE("what is written reads back as the rounded value, and is then written the same") {
  const unsigned seed = 20180507;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(-14.0, 21.0), mantissa(1.0, 10.0);
  for (const Dimension dimension :
       {Dimension::time, Dimension::size, Dimension::flop_count, Dimension::bandwidth, Dimension::flop_rate, Dimension::frequency,
        Dimension::power, Dimension::energy, Dimension::money, Dimension::money_rate, Dimension::ratio}) {
    for (int i = 0; i < 2000; ++i) {
      const double value = mantissa(random) * std::pow(10.0, exponent(random)) * (i % 5 == 0 ? -1.0 : 1.0);
      const int digits = 1 + i % 6;
      const std::string text = format(Measured{value, dimension}, digits);
      CAPTURE(seed, value, digits, text);
      const auto read = parse_measured(text);
      REQUIRE(read);
      REQUIRE(read->dimension == dimension);
      // Half a unit in the last digit, plus the rounding of the two conversions.
      REQUIRE_THAT(read->base, WithinRel(value, 0.5 * std::pow(10.0, 1 - digits) + 1e-14));
      REQUIRE(format(*read, digits) == text);
    }
  }
}
