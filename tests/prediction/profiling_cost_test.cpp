#include "model/prediction/profiling_cost.hpp"
#include "model/prediction/predict.hpp"

#include "model/configuration/session.hpp"
#include "tests/catch.hpp"

namespace tbdsim {
namespace {

Result<ProfilingCost> cost_of(const char* model, ProfilingPlan plan, double* step = nullptr, int accumulate = 1) {
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  PredictOptions options;
  options.hardware = "titan-xp";
  options.model = model;
  options.stack = "mxnet-1.2";
  options.detail = true;
  options.accumulate = accumulate;
  const auto prediction = predict(*session, options);
  REQUIRE(prediction);
  if (step != nullptr) *step = prediction->step_time.value.base();
  return profiling_cost(*session, options, *prediction, plan);
}

TEST_CASE("Profiling: LeNet's two convolutions are five shapes, each tried at least once") {
  // Two forward, two for weights, and one for data: the first convolution's input needs no gradient.
  const auto cost = cost_of("lenet", {});
  REQUIRE(cost);
  CHECK(cost->shapes == 5);
  CHECK(cost->trials >= cost->shapes);
  CHECK(cost->warm_up > Seconds(0.0));
}

TEST_CASE("Profiling: skipped steps cost their time, and what is recorded does not depend on them") {
  double step = 0.0;
  const auto none = cost_of("lenet", {0, 1}, &step), some = cost_of("lenet", {10, 1});
  REQUIRE(none);
  REQUIRE(some);
  CHECK_THAT((some->before - none->before).base(), WithinRel(10.0 * step, 1e-9));
  CHECK(some->trace_per_step == none->trace_per_step);
  CHECK_THAT(none->trace_per_step.base(), WithinRel(184.0 * none->kernels, 1e-12));
}

TEST_CASE("Profiling: replay takes longer than tracing, tracing no less than nothing") {
  double step = 0.0;
  const auto cost = cost_of("resnet50", {}, &step);
  REQUIRE(cost);
  CHECK(cost->traced.low.base() >= step);
  CHECK(cost->traced.low <= cost->traced.value);
  CHECK(cost->traced.value <= cost->traced.high);
  CHECK(cost->replayed.low.base() >= 2.0 * step * 0.9);  // every kernel twice
  CHECK(cost->replayed.low < cost->replayed.high);
}

TEST_CASE("Profiling: every micro-batch launches its kernels") {
  const auto one = cost_of("lenet", {}), nine = cost_of("lenet", {}, nullptr, 9), seventeen = cost_of("lenet", {}, nullptr, 17);
  CHECK(nine->kernels > 5 * one->kernels);
  CHECK(seventeen->kernels - nine->kernels == nine->kernels - one->kernels);
}

TEST_CASE("Profiling: steps below their bounds are refused") {
  CHECK(cost_of("lenet", {-1, 1}).error().front().message == "--skip -1: expected at least 0 steps");
  CHECK(cost_of("lenet", {0, 0}).error().front().message == "--iterations 0: expected at least 1 step");
}

}  // namespace
}  // namespace tbdsim
