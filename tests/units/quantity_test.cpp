#include "model/units/quantity.hpp"

#include <type_traits>

#include "model/units/sim_time.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

static_assert(std::is_same_v<decltype(Bytes(1.0) / BytesPerSecond(1.0)), Seconds>);
static_assert(std::is_same_v<decltype(Flop(1.0) / Bytes(1.0)), FlopPerByte>);
static_assert(std::is_same_v<decltype(FlopPerSecond(1.0) / BytesPerSecond(1.0)), FlopPerByte>);
static_assert(std::is_same_v<decltype(Watts(1.0) * Seconds(1.0)), Joules>);
static_assert(std::is_same_v<decltype(UsdPerSecond(1.0) * Seconds(1.0)), Usd>);
static_assert(std::is_same_v<decltype(1.0 / Seconds(1.0)), Hertz>);
static_assert(!std::is_convertible_v<double, Seconds>);
static_assert(!std::is_convertible_v<Seconds, double>);
static_assert(std::is_convertible_v<decltype(Seconds(1.0) / Seconds(1.0)), double>);

TEST_CASE("arithmetic of quantities") {
  CHECK(Bytes(100e9) / BytesPerSecond(25e9) == Seconds(4.0));
  CHECK(Seconds(3.0) + Seconds(1.5) - Seconds(0.5) == Seconds(4.0));
  CHECK(-Seconds(3.0) < Seconds(0.0));
  CHECK(2.0 * Seconds(3.0) / 4.0 == Seconds(1.5));
  CHECK(Seconds(6.0) / Seconds(4.0) == 1.5);
  Seconds sum;
  sum += Seconds(2.0);
  sum -= Seconds(0.5);
  sum *= 4.0;
  CHECK(sum == Seconds(6.0));
  CHECK(2.0_GiB == 2048_MiB);
  CHECK(1.5_us == Seconds(1.5e-6));
}

TEST_CASE("simulated time is whole picoseconds, rounded once to the nearest") {
  CHECK(SimTime::from(Seconds(1.0)).picoseconds == 1'000'000'000'000);
  CHECK(SimTime::from(Seconds(1.49e-12)).picoseconds == 1);
  CHECK(SimTime::from(Seconds(1.51e-12)).picoseconds == 2);
  CHECK(SimTime{3} + SimTime{4} == SimTime{7});
  CHECK(SimTime{3} - SimTime{4} < SimTime{0});
  CHECK(SimTime{2'000'000'000'000}.seconds() == Seconds(2.0));
  SimTime t{1};
  t += SimTime{2};
  CHECK(t == SimTime{3});
  // 106 days fit.
  CHECK(SimTime::from(Seconds(106.0 * 86400.0)).picoseconds == 9'158'400'000'000'000'000);
  // What no step takes is cut, not wrapped around.
  CHECK(SimTime::from(Seconds(1e300)).picoseconds == 9'200'000'000'000'000'000);
}
