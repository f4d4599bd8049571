#include "calibrate/collect/stopping_rule.hpp"

#include <vector>

#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;

namespace {

std::vector<Seconds> times(std::initializer_list<double> us) {
  std::vector<Seconds> result;
  for (const double t : us) result.emplace_back(1e-6 * t);
  return result;
}

}  // namespace

TEST_CASE("median and spread come from the quartiles") {
  const Repetitions r = summarize(times({14, 10, 12, 11, 13}));
  CHECK(r.median.base() == Approx(12e-6));
  CHECK(r.spread.base() == Approx((13e-6 - 11e-6) / 1.349));
  CHECK(r.outliers == 0);
}

TEST_CASE("one interrupted repetition moves neither figure and is counted") {
  const Repetitions quiet = summarize(times({10, 10.1, 10.2, 10.3, 10.4, 10.5, 10.6}));
  const Repetitions disturbed = summarize(times({10, 10.1, 10.2, 10.3, 10.4, 10.5, 500}));
  CHECK(disturbed.median == quiet.median);
  CHECK(disturbed.spread == quiet.spread);
  CHECK(disturbed.outliers == 1);
}

TEST_CASE("repetition stops when the error of the median is small, and not before the least count") {
  StoppingRule rule;
  rule.least = 5;
  rule.relative_error = 0.01;
  CHECK(decide(times({10, 10, 10, 10}), rule) == Stop::go_on);
  CHECK(decide(times({10, 10, 10, 10, 10}), rule) == Stop::converged);
  // 1.2533 x (2 / 1.349 / 12) / sqrt(5) = 6.9 %.
  const auto wide = times({10, 11, 12, 13, 14});
  CHECK(decide(wide, rule) == Stop::go_on);
  rule.relative_error = 0.068;
  CHECK(decide(wide, rule) == Stop::go_on);
  rule.relative_error = 0.070;
  CHECK(decide(wide, rule) == Stop::converged);
}

TEST_CASE("a wide spread ends by time or by count, each by its name") {
  StoppingRule rule;
  rule.least = 5;
  rule.relative_error = 1e-6;
  const auto wide = times({10, 11, 12, 13, 14});
  rule.longest = Seconds(60e-6);
  CHECK(decide(wide, rule) == Stop::out_of_time);
  rule.longest = Seconds(61e-6);
  rule.most = 5;
  CHECK(decide(wide, rule) == Stop::out_of_count);
}
