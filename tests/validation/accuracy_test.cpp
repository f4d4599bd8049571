// Figures of accuracy on cases small enough to work out by hand.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "model/validation/accuracy_statistics.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

AssessedRow row(std::string id, std::string group, double predicted, double measured, double half_range = 0.0) {
  AssessedRow result;
  result.row.id = std::move(id);
  result.row.group = std::move(group);
  result.row.predicted = predicted;
  result.row.measured = measured;
  result.row.low = predicted - half_range;
  result.row.high = predicted + half_range;
  return result;
}

AssessedRow scaling_row(int gpus, double predicted, double measured, std::string hardware = "box") {
  AssessedRow result = row("a", "scaling", predicted, measured);
  result.kind = MetricKind::rate;
  result.series = "one series";
  result.hardware = std::move(hardware);
  result.gpus = gpus;
  return result;
}

double mean_error(const std::vector<double>& fractions, double f) {
  double sum = 0.0;
  for (const double fraction : fractions) sum += std::abs(fraction / f - 1.0);
  return sum / static_cast<double>(fractions.size());
}

}  // namespace

TEST_CASE("errors of a group are over time: a rate counts inverted") {
  // Time 1.1 s for 1.0 s: +10 %. 80 samples/s for 100: time 100/80 - 1 = +25 %, though its own error is -20 %.
  AssessedRow rate = row("b", "g", 80.0, 100.0);
  rate.kind = MetricKind::rate;
  CHECK_THAT(time_error(rate), WithinRel(0.25, 1e-12));
  const Accuracy accuracy = summarize({row("a", "g", 1.1, 1.0), rate});
  REQUIRE(accuracy.groups.size() == 1);
  CHECK(accuracy.groups[0].n == 2);
  CHECK_THAT(accuracy.groups[0].mean_ape, WithinRel(0.175, 1e-12));
  CHECK_THAT(accuracy.groups[0].bias, WithinRel(0.175, 1e-12));
}

TEST_CASE("mean, median, 95th percentile and bias") {
  // Errors +10, -20, +30, -40, 0 %: sizes sorted 0 10 20 30 40; mean 20, median 20; the 95th percentile lies at
  // position 0.95 * 4 = 3.8, so 30 + 0.8 * 10 = 38; signed sum -20, bias -4.
  const Accuracy accuracy = summarize({row("a", "g", 1.1, 1.0), row("b", "g", 0.8, 1.0), row("c", "g", 1.3, 1.0),
                                       row("d", "g", 0.6, 1.0), row("e", "g", 1.0, 1.0)});
  const GroupAccuracy& group = accuracy.groups.at(0);
  CHECK_THAT(group.mean_ape, WithinRel(0.20, 1e-12));
  CHECK_THAT(group.median_ape, WithinRel(0.20, 1e-12));
  CHECK_THAT(group.p95_ape, WithinRel(0.38, 1e-12));
  CHECK_THAT(group.bias, WithinRel(-0.04, 1e-12));
}

TEST_CASE("quantiles of one and of two values") {
  CHECK(quantile({7.0}, 0.95) == 7.0);
  CHECK(quantile({3.0, 1.0}, 0.5) == 2.0);
  CHECK(quantile({3.0, 1.0}, 0.0) == 1.0);
  CHECK(quantile({3.0, 1.0}, 1.0) == 3.0);
}

TEST_CASE("a measurement on the edge of the range is covered, one beyond is not") {
  // Range 10 +- 2. Measured 12: covered. 12.001: not. 8: covered. 7.999: not. Width (12 - 8) / 20 = 0.2.
  const Accuracy accuracy = summarize({row("a", "g", 10.0, 12.0, 2.0), row("b", "g", 10.0, 12.001, 2.0),
                                       row("c", "g", 10.0, 8.0, 2.0), row("d", "g", 10.0, 7.999, 2.0)});
  CHECK(accuracy.groups.at(0).coverage == 0.5);
  CHECK_THAT(accuracy.groups.at(0).range_width, WithinRel(0.2, 1e-12));
}

TEST_CASE("the best constant fraction is the weighted median, better than all others tried") {
  // 1/f = 1, 2, 4 with weights 1, 0.5, 0.25: half of 1.75 is 0.875, reached by the first. f = 1.
  CHECK(best_constant_fraction({0.25, 1.0, 0.5}) == 1.0);
  // Weights 0.4, 0.3, 0.3 (1/f = 2.5, 3.33, 3.33): half is 0.5, reached by the second. f = 0.3.
  CHECK(best_constant_fraction({0.3, 0.4, 0.3}) == 0.3);
  // Both sides of half: 0.5 of 1.02 is just short of it, 0.5 of 1 reaches it (there both fractions do equally well).
  CHECK(best_constant_fraction({0.5, 0.3, 0.22}) == 0.3);
  CHECK(best_constant_fraction({0.5, 0.375, 0.125}) == 0.5);
  CHECK(best_constant_fraction({0.2}) == 0.2);
  const std::vector<double> fractions = {0.12, 0.31, 0.33, 0.35, 0.41, 0.52, 0.07, 0.29};
  const double best = mean_error(fractions, best_constant_fraction(fractions));
  for (double f = 0.01; f < 1.0; f += 0.001) CHECK(best <= mean_error(fractions, f) + 1e-12);
}

TEST_CASE("each group has its own baseline, rows without one leave it null") {
  // Group g: fractions 0.4 and 0.3; weights 0.4 of 0.7 pass half, so f = 0.4: errors 0 and 0.3 / 0.4 - 1 = -25 %.
  AssessedRow first = row("a", "g", 1.0, 1.0);
  first.peak_fraction = 0.4;
  AssessedRow second = row("b", "g", 1.0, 1.0);
  second.peak_fraction = 0.3;
  AssessedRow other = row("c", "h", 1.0, 1.0);
  other.peak_fraction = 0.01;
  const Accuracy accuracy = summarize({first, second, other, row("d", "i", 1.0, 1.0)});
  CHECK(accuracy.rows[0].baseline_error == 0.0);
  REQUIRE(accuracy.rows[1].baseline_error);
  CHECK_THAT(*accuracy.rows[1].baseline_error, WithinRel(-0.25, 1e-12));
  REQUIRE(accuracy.groups.size() == 3);
  REQUIRE(accuracy.groups[0].baseline_mean_ape);
  CHECK_THAT(*accuracy.groups[0].baseline_mean_ape, WithinRel(0.125, 1e-12));
  CHECK(accuracy.groups[1].baseline_mean_ape == 0.0);
  CHECK_FALSE(accuracy.groups[2].baseline_mean_ape);
  // Over all three rows that have one: (0 + 25 + 0) / 3.
  REQUIRE(accuracy.all.baseline_mean_ape);
  CHECK_THAT(*accuracy.all.baseline_mean_ape, WithinRel(0.25 / 3.0, 1e-12));
}

TEST_CASE("fit rows and skipped rows do not count") {
  AssessedRow fit = row("a", "g", 3.0, 1.0);
  fit.row.fit = true;
  AssessedRow skipped = row("b", "g", 0.0, 1.0);
  skipped.row.skipped = "unknown device";
  const Accuracy accuracy = summarize({fit, skipped, row("c", "g", 1.5, 1.0)});
  REQUIRE(accuracy.groups.size() == 1);
  CHECK(accuracy.all.n == 1);
  CHECK_THAT(accuracy.all.mean_ape, WithinRel(0.5, 1e-12));
  CHECK(accuracy.groups[0].n == 1);
  CHECK(accuracy.groups[0].skipped == 1);
  CHECK_THAT(accuracy.groups[0].mean_ape, WithinRel(0.5, 1e-12));
  REQUIRE(accuracy.fitted_groups.size() == 1);
  CHECK_THAT(accuracy.fitted_groups[0].mean_ape, WithinRel(2.0, 1e-12));
  CHECK(accuracy.rows.size() == 3);
  CHECK(accuracy.rows[1].skipped == "unknown device");
}

TEST_CASE("the mean of groups weighs each group once and passes over a group with nothing predicted") {
  // Group g: +10 % and +30 %, mean 20. Group h: -40 %. Groups: 30 (bias -10); rows: 26.67 (bias 0).
  AssessedRow skipped = row("x", "nothing", 0.0, 1.0);
  skipped.row.skipped = "unknown network";
  const Accuracy accuracy = summarize({row("a", "g", 1.1, 1.0), skipped, row("b", "h", 0.6, 1.0), row("c", "g", 1.3, 1.0)});
  REQUIRE(accuracy.groups.size() == 3);
  CHECK(accuracy.groups[0].group == "g");
  CHECK(accuracy.groups[1].group == "nothing");
  CHECK(accuracy.groups[2].group == "h");
  CHECK_THAT(accuracy.mean_of_groups, WithinRel(0.3, 1e-12));
  CHECK_THAT(accuracy.bias_of_groups, WithinRel(-0.1, 1e-12));
  CHECK(accuracy.all.n == 3);
  CHECK(accuracy.all.skipped == 1);
  CHECK_THAT(accuracy.all.mean_ape, WithinRel(0.8 / 3.0, 1e-12));
  CHECK_THAT(accuracy.all.bias, WithinAbs(0.0, 1e-12));
}

TEST_CASE("by subject and table: several devices of a table together, what is in no table left out") {
  const auto row = [](std::string id, std::string group, double predicted, double measured) {
    AssessedRow result = ::row(std::move(id), group, predicted, measured);
    result.row.table = group.substr(0, 1);
    return result;
  };
  AssessedRow amp = row("c", "t/k80", 1.3, 1.0), fit = row("d", "t/k80", 9.0, 1.0), memory = row("e", "m/k80", 1.2, 1.0),
              many = row("f", "t/k80", 1.4, 1.0), none = row("g", "u/k80", 9.0, 1.0);
  amp.fp32 = false;
  fit.row.fit = true;
  memory.kind = MetricKind::size;
  many.gpus = 8;
  none.row.skipped = "why";
  const Accuracy accuracy = summarize(
      {row("a", "t/k80", 1.1, 1.0), memory, row("b", "t/p100", 0.8, 1.0), row("h", "s/k80", 1.0, 1.0), amp, fit, many, none});
  std::string told;
  for (const TableAccuracy& t : accuracy.tables)
    told += t.subject + "|" + t.figures.group + " " + std::to_string(t.groups) + " " + std::to_string(t.figures.n) + " " +
            std::to_string(std::lround(1000.0 * t.figures.mean_ape)) + "\n";
  CHECK(told ==
        "one GPU, fp32| 3 3 100\none GPU, fp32|t 2 2 150\none GPU, fp32|s 1 1 0\n"
        "one GPU, other precisions| 1 1 300\none GPU, other precisions|t 1 1 300\n"
        "several GPUs| 1 1 400\nseveral GPUs|t 1 1 400\nmemory| 1 1 200\nmemory|m 1 1 200\n");
}

TEST_CASE("efficiency points compare with the series' 1-GPU row") {
  // Measured 100, 190, 320: efficiencies 95 and 80 %. Predicted 110, 220, 396: 100 and 90 %. Points +5 and +10.
  const Accuracy accuracy = summarize({scaling_row(1, 110.0, 100.0), scaling_row(2, 220.0, 190.0), scaling_row(4, 396.0, 320.0)});
  REQUIRE(accuracy.groups.at(0).efficiency);
  const auto& points = *accuracy.groups[0].efficiency;
  CHECK(points.n == 2);
  CHECK_THAT(points.mean, WithinRel(7.5, 1e-12));
  CHECK_THAT(points.worst, WithinRel(10.0, 1e-12));
  CHECK_THAT(points.bias, WithinRel(7.5, 1e-12));
  // The best constant lies between 80 and 95 %.
  CHECK_THAT(points.baseline_mean, WithinRel(7.5, 1e-12));
}

TEST_CASE("a row that states its efficiency needs no 1-GPU row") {
  AssessedRow row = scaling_row(512, 0.85, 0.9);
  row.row.metric = "efficiency";
  row.series.clear();
  const Accuracy accuracy = summarize({row});
  REQUIRE(accuracy.groups.at(0).efficiency);
  CHECK_THAT(accuracy.groups[0].efficiency->bias, WithinRel(-5.0, 1e-12));
}

TEST_CASE("efficiency from step times, and a worst point below zero") {
  // Measured 1 s, 1.25 s: 80 %. Predicted 1 s, 2 s: 50 %. -30 points.
  AssessedRow one = scaling_row(1, 1.0, 1.0);
  AssessedRow four = scaling_row(4, 2.0, 1.25);
  one.kind = four.kind = MetricKind::time;
  const Accuracy accuracy = summarize({one, four});
  REQUIRE(accuracy.groups.at(0).efficiency);
  CHECK_THAT(accuracy.groups[0].efficiency->bias, WithinRel(-30.0, 1e-12));
  CHECK_THAT(accuracy.groups[0].efficiency->worst, WithinRel(30.0, 1e-12));
}

TEST_CASE("of several 1-GPU rows the same machine's is taken, without any there are no points") {
  // On "box" one GPU does 100 predicted and measured; elsewhere 50. Two GPUs on box: 200 for 180, 10 points.
  const Accuracy accuracy =
      summarize({scaling_row(1, 50.0, 50.0, "elsewhere"), scaling_row(1, 100.0, 100.0), scaling_row(2, 200.0, 180.0)});
  REQUIRE(accuracy.groups.at(0).efficiency);
  CHECK_THAT(accuracy.groups[0].efficiency->bias, WithinRel(10.0, 1e-12));
  AssessedRow lost = scaling_row(1, 100.0, 100.0);
  lost.row.skipped = "no such device";
  CHECK_FALSE(summarize({lost, scaling_row(2, 200.0, 180.0)}).groups.at(0).efficiency);
}

TEST_CASE("stage metrics carry their part of the host's time and the range of the step") {
  Prediction prediction;
  prediction.step_time = {Seconds(10.0), Seconds(9.0), Seconds(12.0)};
  prediction.throughput = {3.2, 2.6, 3.5};
  prediction.phases.forward = Seconds(2.0);
  prediction.phases.backward = Seconds(5.0);
  prediction.phases.weight_update = Seconds(1.0);
  prediction.phases.host_forward = Seconds(0.4);
  prediction.phases.host_backward = Seconds(1.0);
  prediction.phases.host_update = Seconds(0.2);
  prediction.phases.host_exposed = Seconds(1.6);
  const auto forward = metric_value(prediction, "forward_s");
  REQUIRE(forward);
  CHECK_THAT(forward->value, WithinRel(2.4, 1e-12));
  CHECK_THAT(forward->low, WithinRel(2.16, 1e-12));
  CHECK_THAT(forward->high, WithinRel(2.88, 1e-12));
  CHECK_THAT(metric_value(prediction, "backward_s")->value, WithinRel(6.0, 1e-12));
  CHECK_THAT(metric_value(prediction, "forward_backward_s")->value, WithinRel(8.4, 1e-12));
  CHECK_THAT(metric_value(prediction, "weight_update_s")->value, WithinRel(1.2, 1e-12));
  CHECK(metric_value(prediction, "throughput")->low == 2.6);
  CHECK(metric_value(prediction, "step_time_s")->high == 12.0);
}

TEST_CASE("memory metrics are of the fullest GPU, what a step does not hold is absent") {
  Prediction prediction;
  CHECK_FALSE(metric_value(prediction, "peak_memory_bytes"));
  GpuMemory small, large;
  small.peak = small.low = small.high = Bytes(10.0);
  large.peak = Bytes(20.0);
  large.low = Bytes(18.0);
  large.high = Bytes(25.0);
  large.allocated = Bytes(10.0);
  prediction.memory.gpus = {small, large};
  CHECK(metric_value(prediction, "peak_memory_bytes")->value == 20.0);
  CHECK(metric_value(prediction, "peak_memory_bytes")->high == 25.0);
  CHECK_THAT(metric_value(prediction, "peak_allocated_bytes")->low, WithinRel(9.0, 1e-12));
  CHECK_FALSE(metric_value(prediction, "max_batch_per_gpu"));
  CHECK_FALSE(metric_value(prediction, "bus_bandwidth"));
}
