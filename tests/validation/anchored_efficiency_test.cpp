// Scaling with the step on one GPU as measured: an invented machine whose exchange takes a fixed time.
#include "model/validation/anchored_efficiency.hpp"
#include "model/validation/assess_rows.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

/// Compute of 100 ms that scales, 20 ms of exchange with several GPUs and `server` always, which do not.
Predictor machine(double server) {
  return [server](const PredictOptions& options) -> Result<Prediction> {
    Prediction p;
    p.job.gpus = options.gpus.value_or(1);
    const Seconds step(0.1 * options.compute_scale + server + (p.job.gpus > 1 ? 0.02 : 0.0));
    p.step_time = {step, step, step};
    const double rate = 32.0 * p.job.gpus / step.base();
    p.throughput = {rate, rate, rate};
    return p;
  };
}

MeasuredRun run(std::string id, int gpus, double measured) {
  MeasuredRun r;
  r.id = std::move(id);
  r.group = "table/board";
  r.metric = "throughput";
  r.unit = "samples/s";
  r.measured = measured;
  r.options.hardware = "board";
  r.options.gpus = gpus;
  return r;
}

}  // namespace

TEST_CASE("anchored: the factor that mends one GPU is applied to several, the exchange stays") {
  for (const double server : {0.0, 0.03}) {
    INFO(server);
    // Measured 200 ms on one GPU: compute must take the 200 ms that the server leaves of them.
    const std::vector<MeasuredRun> runs{run("one", 1, 32.0 / 0.2), run("four", 4, 4 * 32.0 / 0.25)};
    const Accuracy accuracy = summarize(assess_rows(machine(server), runs));
    REQUIRE(accuracy.groups.size() == 1);
    const auto& points = accuracy.groups.front().efficiency;
    REQUIRE(points);
    REQUIRE(points->anchored);
    // 200 of 220 ms against 200 of 250; alone the prediction says 100 (130) of 120 (150).
    CHECK(points->anchored->n == 1);
    CHECK_THAT(points->anchored->bias, WithinRel(100.0 * (0.2 / 0.22 - 0.2 / 0.25), 1e-2));
    CHECK_THAT(points->bias, WithinRel(100.0 * ((0.1 + server) / (0.12 + server) - 0.2 / 0.25), 1e-9));
  }
}

TEST_CASE("anchored: a step that no factor mends keeps no figure") {
  // 10 ms were measured where 30 ms do not scale.
  const std::vector<MeasuredRun> runs{run("one", 1, 32.0 / 0.01), run("four", 4, 4 * 32.0 / 0.02)};
  const std::vector<AssessedRow> rows = assess_rows(machine(0.03), runs);
  CHECK_FALSE(rows[1].anchored);
}
