#include "model/prediction/rank_waits.hpp"
#include <cmath>

#include "model/configuration/configure.hpp"
#include "model/configuration/session.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

TEST_CASE("mean of the largest of n normal numbers: known values") {
  CHECK(expected_maximum(1) == 0.0);
  CHECK_THAT(expected_maximum(2), WithinAbs(0.564190, 1e-4));  // 1 / sqrt(pi)
  CHECK_THAT(expected_maximum(3), WithinAbs(0.846284, 1e-4));  // 3 / (2 sqrt(pi))
  CHECK_THAT(expected_maximum(32), WithinAbs(2.0697, 1e-3));   // tables of normal order statistics
  CHECK(expected_maximum(4096) < expected_maximum(65536));
}

TEST_CASE("two GPUs of one board share its power, GPUs of two boards do not") {
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  const auto waits = [&](std::vector<int> devices) {
    PredictOptions options;
    options.hardware = "aws-p2.16xlarge";
    options.model = "resnet50";
    options.devices = std::move(devices);
    const Configuration configuration = configure(*session, options).value();
    StepTimes times;
    times.phases.forward = times.step = Seconds(1.0);
    add_rank_waits(configuration, times);
    return times.phases.exchange_exposed.base();
  };
  CHECK_THAT(waits({0, 1}) - waits({0, 2}), WithinRel(0.042, 1e-9));
  CHECK(waits({1, 2}) == waits({0, 2}));
}

TEST_CASE("ranks of a detector that proposes regions wait for the one with most to do") {
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  const auto share = [&](const char* model, int gpus) {
    PredictOptions options;
    options.hardware = "dgx1";
    options.model = model;
    options.gpus = gpus;
    return slowest_rank_share(configure(*session, options).value());
  };
  CHECK(share("mask_rcnn", 1) == 0.0);
  CHECK_THAT(share("ssd300", 2), WithinRel(0.01 * expected_maximum(2), 1e-9));
  CHECK_THAT(share("mask_rcnn", 2), WithinRel(std::hypot(0.01, 0.09) * expected_maximum(2), 1e-9));
  CHECK(share("mask_rcnn", 8) > share("mask_rcnn", 4));
}
