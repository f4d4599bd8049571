// Ranges of ratios of two predictions: what both get wrong alike cancels.
#include "model/study/speedup.hpp"

#include <cmath>

#include "model/cost/uncertainty.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

Prediction on(int gpus) {
  Prediction p;
  p.job.device = "a";
  p.job.stack = "s";
  p.job.model = "m";
  p.job.gpus = gpus;
  p.spread = {0.08, 0.07, gpus > 1 ? 0.06 : 0.0};
  return p;
}

double half_width(const Ranged<double>& range) { return std::log(range.value / range.low) / kCentral80; }

}  // namespace

TEST_CASE("the same kernels on more GPUs: only the exchange is uncertain, and nothing beats linear") {
  const Ranged<double> two = speedup_range(on(2), on(1), 1.9);
  CHECK_THAT(half_width(two), WithinRel(0.06, 1e-9));
  CHECK(two.high == 2.0);
  CHECK(speedup_range(on(2), on(1), 2.1).high == 2.1);  // as where servers do the updates
  CHECK(speedup_range(on(2), on(1), 1.2).high < 2.0);
}

TEST_CASE("another batch shares the board, another device nothing") {
  Prediction batch = on(2), device = on(2);
  batch.job.batch_per_gpu = 64;
  device.job.device = "b";
  CHECK_THAT(half_width(speedup_range(batch, on(1), 1.9)), WithinRel(std::sqrt(0.06 * 0.06 + 2 * 0.07 * 0.07), 1e-9));
  CHECK_THAT(half_width(speedup_range(device, on(1), 1.9)),
             WithinRel(std::sqrt(0.06 * 0.06 + 2 * 0.07 * 0.07 + 2 * 0.08 * 0.08), 1e-9));
  CHECK(speedup_range(device, on(1), 1.9).high > 2.0);
}

TEST_CASE("speed-up of epochs: start-up is certain, and what the parts do not share no longer cancels") {
  // Half of either epoch is steps: half as wide.
  CHECK_THAT(half_width(speedup_range(on(2), on(1), 1.5, 0.5, 0.5)),
             WithinRel(0.5 * half_width(speedup_range(on(2), on(1), 1.5)), 1e-9));
  CHECK(half_width(speedup_range(on(2), on(1), 1.5, 0.0, 0.0)) < 1e-12);
  // The board's error is in all of one and in half of the other.
  CHECK(half_width(speedup_range(on(2), on(1), 1.5, 0.5, 1.0)) > half_width(speedup_range(on(2), on(1), 1.5, 1.0, 1.0)) * 0.5);
}
