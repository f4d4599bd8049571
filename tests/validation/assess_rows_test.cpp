// Rows set against a made-up predictor: what is compared, what is skipped and why, and independence of threads.
#include <omp.h>

#include <cmath>
#include <string>
#include <vector>

#include "model/configuration/network_notices.hpp"
#include "model/validation/assess_rows.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

/// One GPU does a step of 6 GFLOP in 2 s at a peak of 10 GFLOP/s; n GPUs in 2 n^0.1 s.
Result<Prediction> predictor(const PredictOptions& options) {
  if (options.model == "nonet") return fail("model: unknown network \"nonet\"");
  Prediction prediction;
  prediction.job.gpus = options.gpus.value_or(1);
  prediction.job.batch_per_gpu = options.batch.value_or(32);
  prediction.job.global_batch = prediction.job.gpus * prediction.job.batch_per_gpu;
  const double step = 2.0 * std::pow(prediction.job.gpus, 0.1);
  prediction.step_time = {Seconds(step), Seconds(0.9 * step), Seconds(1.1 * step)};
  const double rate = prediction.job.global_batch / step;
  prediction.throughput = {rate, rate / 1.1, rate / 0.9};
  prediction.phases.forward = Seconds(0.5);
  prediction.phases.backward = Seconds(1.0);
  prediction.work.flop_per_gpu = Flop(6e9);
  prediction.work.peak = FlopPerSecond(10e9);
  prediction.job.model = "translator";
  prediction.samples.part = "target token";
  prediction.samples.parts = 25.0;
  prediction.memory.fits = prediction.job.batch_per_gpu <= 64;
  if (!options.network.empty()) prediction.notices = {one_node_notice("network " + options.network)};
  if (options.zero) prediction.notices = {"--zero 1 shards nothing that counts here", one_copy_notice(*options.zero)};
  return prediction;
}

MeasuredRun run(std::string metric, double measured) {
  MeasuredRun result;
  result.id = metric;
  result.group = std::string("table/board");
  result.metric = std::move(metric);
  result.measured = measured;
  return result;
}

}  // namespace

TEST_CASE("the row's own error, and its fraction of peak by the part of the step measured") {
  // 0.6 s at full peak. Throughput 20/s of batch 32: 1.6 s, fraction 0.375; predicted 16/s, error 16/20 - 1 = -20 %.
  // Forward alone holds a third of the FLOP, 0.2 s at peak; measured 0.4 s: fraction 0.5. Backward 0.4 s of 0.8 s: 0.5.
  const auto rows = assess_rows(predictor, {run("throughput", 20.0), run("forward_s", 0.4), run("backward_s", 0.8),
                                            run("forward_backward_s", 1.2), run("step_time_s", 2.0)});
  REQUIRE(rows.size() == 5);
  CHECK_THAT(rows[0].row.error, WithinRel(-0.2, 1e-12));
  CHECK_THAT(time_error(rows[0]), WithinRel(0.25, 1e-12));
  const double fractions[] = {0.375, 0.5, 0.5, 0.5, 0.3};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO(rows[i].row.metric);
    REQUIRE(rows[i].peak_fraction);
    CHECK_THAT(*rows[i].peak_fraction, WithinRel(fractions[i], 1e-12));
  }
  CHECK_THAT(rows[1].row.error, WithinRel(0.25, 1e-12));
  CHECK(rows[1].series.empty());
  CHECK_FALSE(rows[0].series.empty());
}

TEST_CASE("rates in what a network counts besides samples: the same error, the same fraction of peak") {
  // 20 samples of 25 tokens a second.
  std::vector<MeasuredRun> runs{run("throughput", 20.0), run("throughput", 500.0), run("throughput", 500.0),
                                run("throughput", 500.0)};
  runs[0].unit = "samples/s";
  runs[1].unit = "tokens/s";
  runs[2].unit = "target tokens/s";
  runs[3].unit = "audio seconds/s";
  const auto rows = assess_rows(predictor, runs);
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    CHECK_THAT(rows[i].row.error, WithinRel(rows[0].row.error, 1e-12));
    CHECK_THAT(*rows[i].peak_fraction, WithinRel(*rows[0].peak_fraction, 1e-12));
    CHECK_THAT(rows[i].row.predicted, WithinRel(400.0, 1e-12));
  }
  CHECK(rows[3].row.skipped == "translator does not count audio seconds/s");
}

TEST_CASE("what cannot be predicted is skipped with its reason") {
  MeasuredRun unknown = run("throughput", 1.0);
  unknown.options.model = "nonet";
  const auto rows = assess_rows(predictor, {unknown, run("max_batch_per_gpu", 64.0), run("weight_update_s", 0.1)});
  CHECK(rows[0].row.skipped == "model: unknown network \"nonet\"");
  CHECK(rows[1].row.skipped == "a step's prediction has no max_batch_per_gpu");
  CHECK(rows[2].row.skipped == "the predicted weight_update_s is 0");
}

TEST_CASE("a row whose option has no effect is skipped with the reason") {
  std::vector<MeasuredRun> runs(2, run("throughput", 1.0));
  runs[0].options.network = "10gbe";
  runs[1].options.zero = 1;
  const auto rows = assess_rows(predictor, runs);
  CHECK(rows[0].row.skipped == "network 10gbe: without effect, since the job runs on one node; use --nodes, such as --nodes 2");
  CHECK(rows[1].row.skipped == "--zero 1: there is one copy of the network, and nothing to shard over it");
}

TEST_CASE("a job that ran and is predicted not to fit is compared, and known") {
  std::vector<MeasuredRun> runs(2, run("throughput", 16.0));
  runs[1].options.batch = 128;
  const auto rows = assess_rows(predictor, runs);
  CHECK(rows[0].row.fits_memory);
  CHECK_FALSE(rows[1].row.fits_memory);
  CHECK(rows[1].row.skipped.empty());
}

TEST_CASE("one series: rows that differ in GPUs, machine and exchange, not in batch") {
  std::vector<MeasuredRun> runs(4, run("throughput", 16.0));
  runs[1].options.gpus = 2;
  runs[1].options.exchange = "nccl";
  runs[1].options.hardware = "dgx1";
  runs[2].options.batch = 64;
  runs[3].options.stack = "mxnet-1.2";
  const auto rows = assess_rows(predictor, runs);
  CHECK(rows[0].series == rows[1].series);
  CHECK(rows[0].series != rows[2].series);
  CHECK(rows[0].series != rows[3].series);
  CHECK(rows[1].gpus == 2);
}

TEST_CASE("the same figures on one thread and on several") {
  std::vector<MeasuredRun> runs;
  for (int i = 0; i < 200; ++i) {
    runs.push_back(run(i % 3 == 0 ? "step_time_s" : "throughput", 1.0 + 0.37 * i));
    runs.back().options.gpus = 1 + i % 4;
    runs.back().group = i % 2 == 0 ? "even" : "odd";
    runs.back().options.model = i % 17 == 0 ? "nonet" : "resnet50";
  }
  omp_set_num_threads(1);
  const Accuracy one = summarize(assess_rows(predictor, runs));
  omp_set_num_threads(4);
  const Accuracy four = summarize(assess_rows(predictor, runs));
  REQUIRE(one.rows.size() == four.rows.size());
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    CHECK(one.rows[i].id == four.rows[i].id);
    CHECK(one.rows[i].skipped == four.rows[i].skipped);
    CHECK(one.rows[i].predicted == four.rows[i].predicted);
    CHECK(one.rows[i].baseline_error == four.rows[i].baseline_error);
  }
  CHECK(one.all.skipped == 12);
  CHECK(one.all.mean_ape == four.all.mean_ape);
  CHECK(one.all.bias == four.all.bias);
  CHECK(one.mean_of_groups == four.mean_of_groups);
}
