#include "model/cost/serial_reverse.hpp"

#include "tests/architectures.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("a serial reverse takes as long as its elements, whatever the length") {
  // Forward and backward, the source's 512 features and 256 of one direction, 128 sentences: 119.65 ms in the profile.
  const double seconds =
      2.0 * (serial_reverse_time(128, 512, chip("Pascal")) + serial_reverse_time(128, 256, chip("Pascal"))).base();
  CHECK_THAT(seconds, Catch::WithinRel(0.11965, 0.005));
  CHECK(serial_reverse_time(1, 1, chip("Maxwell")) == serial_reverse_time(1, 1, chip("Pascal")));
  CHECK(serial_reverse_time(1, 1, chip("Ampere")) == serial_reverse_time(1, 1, chip("Turing")));
  CHECK(serial_reverse_time(1, 1, chip("Volta")) < serial_reverse_time(1, 1, chip("Pascal")));
}
