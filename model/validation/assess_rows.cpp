#include "model/validation/assess_rows.hpp"

#include "model/configuration/network_notices.hpp"
#include "model/support/first_reason.hpp"
#include "model/validation/anchored_efficiency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <utility>

namespace tbdsim {
namespace {

/// What two rows of one scaling series share: everything but machine, GPUs, nodes, devices, network and exchange.
std::string series_of(const MeasuredRun& run) {
  const PredictOptions& options = run.options;
  const auto number = [](const std::optional<int>& value) { return value.value_or(0); };
  std::string key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", run.group, run.metric, options.model, options.stack,
                                options.precision, options.optimizer, options.input, number(options.batch), number(options.image),
                                number(options.seq_len));
  for (const std::string& assignment : options.set) key += "\n" + assignment;
  return key;
}

/// Time at 100 % of peak over the measured time, from the FLOP that the measured part of the step holds.
std::optional<double> peak_fraction(const Metric& metric, const MeasuredRun& run, const Prediction& prediction) {
  if (metric.flop_share == 0.0 || prediction.work.flop_per_gpu <= Flop(0.0) || prediction.work.peak <= FlopPerSecond(0.0)) {
    return std::nullopt;
  }
  const Seconds ideal = metric.flop_share * prediction.work.flop_per_gpu / prediction.work.peak;
  const double units = prediction.job.global_batch * units_per_sample(prediction, run.unit).value_or(1.0);
  const Seconds measured(metric.kind == MetricKind::rate ? units / run.measured : run.measured);
  return ideal / measured;
}

/// Throughput in the row's unit. Expects one that the network counts.
Ranged<double> rate_in(const Prediction& prediction, const std::string& unit) {
  const double units = units_per_sample(prediction, unit).value_or(1.0);
  const Ranged<double>& samples = prediction.throughput;
  return {units * samples.value, units * samples.low, units * samples.high};
}

AssessedRow skipped(AssessedRow row, std::string reason) {
  row.row.skipped = std::move(reason);
  return row;
}

/// Throughput over that of as many single GPUs, each with the row's options otherwise; as wide a range as the step's.
std::optional<Ranged<double>> scaling_efficiency(const Predictor& predictor, PredictOptions options, const Prediction& many) {
  options.gpus = options.nodes = 1;
  options.devices.clear();
  options.network.clear();
  options.exchange.clear();
  const Result<Prediction> one = predictor(options);
  if (!one) return std::nullopt;
  const double ideal = one->throughput.value * many.job.gpus;
  return Ranged<double>{many.throughput.value / ideal, many.throughput.low / ideal, many.throughput.high / ideal};
}

template <class T>
std::string reason(const Result<T>& refused) {
  return refused.error().empty() ? "no prediction" : first_reason(refused.error());
}

AssessedRow compared(AssessedRow result, const Ranged<double>& value) {
  RowAccuracy& row = result.row;
  if (!(value.value > 0.0)) {
    std::string why = fmt::format("the predicted {} is 0", row.metric);
    return skipped(std::move(result), std::move(why));
  }
  row.predicted = value.value;
  row.low = value.low;
  row.high = value.high;
  row.error = row.predicted / row.measured - 1.0;
  return result;
}

AssessedRow assess_collective(const CollectivePredictor& collectives, const MeasuredRun& run, AssessedRow result) {
  if (!collectives) return skipped(std::move(result), fmt::format("a step's prediction has no {}", run.metric));
  const Result<Ranged<double>> value = collectives(run);
  if (!value) return skipped(std::move(result), reason(value));
  result.kind = MetricKind::rate;
  result.hardware = run.options.hardware;
  return compared(std::move(result), *value);
}

AssessedRow assess_row(const Predictor& predictor, const CollectivePredictor& collectives, const MeasuredRun& run) {
  AssessedRow result;
  RowAccuracy& row = result.row;
  row.id = run.id;
  row.group = run.group;
  row.table = std::filesystem::path(run.where.file).stem().string();
  row.metric = run.metric;
  row.unit = run.unit;
  row.fit = run.fit;
  row.measured = run.measured;
  const Metric* metric = find_metric(run.metric);
  if (metric == nullptr) return skipped(std::move(result), fmt::format("unknown metric {}", run.metric));
  if (!run.refused.empty()) return skipped(std::move(result), run.refused);
  if (run.metric == "bus_bandwidth") return assess_collective(collectives, run, std::move(result));
  PredictOptions options = run.options;
  options.largest_batch = run.metric == "max_batch_per_gpu";
  const Result<Prediction> prediction = predictor(options);
  if (!prediction) return skipped(std::move(result), reason(prediction));
  // A row measured something that its options name; where they do nothing here, the prediction is of something else.
  const auto idle = std::find_if(prediction->notices.begin(), prediction->notices.end(), is_no_effect_notice);
  if (idle != prediction->notices.end()) return skipped(std::move(result), *idle);
  if (run.metric == "throughput" && !units_per_sample(*prediction, run.unit))
    return skipped(std::move(result), fmt::format("{} does not count {}", prediction->job.model, run.unit));
  const std::optional<Ranged<double>> value = run.metric == "efficiency" ? scaling_efficiency(predictor, run.options, *prediction)
                                              : run.metric == "throughput" ? rate_in(*prediction, run.unit)
                                                                           : metric_value(*prediction, run.metric);
  if (!value) return skipped(std::move(result), fmt::format("a step's prediction has no {}", run.metric));
  result = compared(std::move(result), *value);
  if (!result.row.skipped.empty()) return result;
  result.kind = metric->kind;
  // The row of a largest batch measured that batch; the job of its options is an example.
  result.row.fits_memory = options.largest_batch || prediction->memory.fits;
  result.peak_fraction = peak_fraction(*metric, run, *prediction);
  result.gpus = prediction->job.gpus;
  result.fp32 = prediction->job.precision == name(Precision::fp32);
  result.by_layers = prediction->division.by_layers;
  result.hardware = run.options.hardware;
  const bool scales = run.metric == "throughput" || run.metric == "step_time_s";
  if (scales) result.series = series_of(run);
  return result;
}

}  // namespace

std::vector<AssessedRow> assess_rows(const Predictor& predictor, const std::vector<MeasuredRun>& runs,
                                     const CollectivePredictor& collectives, Progress* progress) {
  begin(progress, "runs", runs.size());
  std::vector<AssessedRow> rows(runs.size());
  const auto count = static_cast<std::ptrdiff_t>(runs.size());
#pragma omp parallel for schedule(dynamic)
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const auto slot = static_cast<std::size_t>(i);
    rows[slot] = assess_row(predictor, collectives, runs[slot]);
    add_one(progress);
  }
  anchor_efficiency(predictor, runs, rows);
  return rows;
}

}  // namespace tbdsim
