// Spread of a step: independent causes add in squares.
#include "model/cost/uncertainty.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("causes add in squares") {
  SpreadConstants spread;
  spread.board = 0.03;
  spread.row = 0.04;
  spread.transferred = 0.12;
  spread.tensor_core = 0.12;
  CHECK_THAT(step_spread(spread, 0.0, false, false, 0.0), WithinRel(0.05, 1e-12));
  CHECK_THAT(step_spread(spread, 1.0, false, false, 0.0), WithinRel(0.13, 1e-12));
  CHECK_THAT(step_spread(spread, 0.0, true, false, 0.0), WithinRel(0.13, 1e-12));
  CHECK_THAT(step_spread(spread, 0.0, false, false, 0.12), WithinRel(0.13, 1e-12));
  spread.board = spread.row = 0.0;
  CHECK_THAT(step_spread(spread, 2.0, false, false, 0.07), WithinRel(0.25, 1e-12));  // 2 x 0.12 and 0.07
}

TEST_CASE("tensor cores widen") {
  SpreadConstants spread;
  spread.board = 0.03;
  spread.row = 0.0;
  spread.tensor_core = 0.04;
  CHECK_THAT(step_spread(spread, 0.0, true, false, 0.0), WithinRel(0.05, 1e-12));
}

TEST_CASE("an exchange widens") {
  SpreadConstants spread;
  spread.board = 0.03;
  spread.row = 0.0;
  spread.exchange = 0.04;
  CHECK_THAT(step_spread(spread, 0.0, false, true, 0.0), WithinRel(0.05, 1e-12));
}

TEST_CASE("further transfers, tensor cores and other framework versions only widen") {
  const SpreadConstants spread;
  double before = step_spread(spread, 0.0, false, false, 0.0);
  for (const double distance : {1.0, 2.0, 3.0, 5.0}) {
    const double here = step_spread(spread, distance, false, false, 0.0);
    CHECK(here > before);
    CHECK(step_spread(spread, distance, false, false, 0.1) > here);
    CHECK(step_spread(spread, distance, true, false, 0.0) > here);
    before = here;
  }
}
