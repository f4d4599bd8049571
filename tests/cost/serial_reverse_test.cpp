#include "model/cost/serial_reverse.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("a serial reverse takes as long as its elements, whatever the length") {
  // Forward and backward, the source's 512 features and 256 of one direction, 128 sentences: 119.65 ms in the profile.
  const double seconds = 2.0 * (serial_reverse_time(128, 512, "Pascal") + serial_reverse_time(128, 256, "Pascal")).base();
  CHECK_THAT(seconds, Catch::WithinRel(0.11965, 0.005));
  CHECK(serial_reverse_time(1, 1, "Maxwell") == serial_reverse_time(1, 1, "Pascal"));
  CHECK(serial_reverse_time(1, 1, "Ampere") == serial_reverse_time(1, 1, "Turing"));
  CHECK(serial_reverse_time(1, 1, "Volta") < serial_reverse_time(1, 1, "Pascal"));
}
