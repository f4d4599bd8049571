#include "model/analysis/rank_waits.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinAbs;

TEST_CASE("mean of the largest of n normal numbers: known values") {
  CHECK(expected_maximum(1) == 0.0);
  CHECK_THAT(expected_maximum(2), WithinAbs(0.564190, 1e-4));  // 1 / sqrt(pi)
  CHECK_THAT(expected_maximum(3), WithinAbs(0.846284, 1e-4));  // 3 / (2 sqrt(pi))
  CHECK_THAT(expected_maximum(32), WithinAbs(2.0697, 1e-3));   // tables of normal order statistics
  CHECK(expected_maximum(4096) < expected_maximum(65536));
}
