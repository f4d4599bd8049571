#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/prediction/predict.hpp"

namespace tbdsim {

/// Whether a larger number of a metric means a faster step.
enum class MetricKind {
  time,  ///< seconds: compared as it stands
  rate,  ///< per second: compared as its inverse, a time
  size,  ///< bytes or samples: compared as it stands
};

/// One metric of measured-run tables.
struct Metric {
  std::string_view name;
  MetricKind kind = MetricKind::time;
  std::string_view unit;
  /// Part of the step's useful FLOP that falls into the measured time; 0: the metric has no constant-utilisation
  /// baseline. The backward pass does two products per forward product, with respect to input and to weights.
  double flop_share = 0.0;
};

/// Every metric, in the order of documentation.
[[nodiscard]] const std::vector<Metric>& metrics();
[[nodiscard]] const Metric* find_metric(std::string_view name);  ///< null if there is none
[[nodiscard]] std::vector<std::string> metric_names();

/// Whether a throughput may be measured in `unit`: samples, or what networks count besides them ("tokens/s", "audio seconds/s").
[[nodiscard]] bool is_rate_unit(std::string_view unit);
/// How many of `unit` (empty: samples) a sample of the prediction holds; nullopt if its network counts something else. Tokens are
/// those of its own kind of network, source and target together where both are counted.
[[nodiscard]] std::optional<double> units_per_sample(const Prediction& prediction, std::string_view unit);

/// What `prediction` says of a metric, in the metric's unit; nullopt if a prediction of a step does not hold it
/// (max_batch_per_gpu, bus_bandwidth, efficiency). Of several GPUs, memory is that of the fullest.
///
/// A stage metric is the stage's busy time plus the host time exposed in it. Ranges of stages are as wide, relatively,
/// as that of the step.
[[nodiscard]] std::optional<Ranged<double>> metric_value(const Prediction& prediction, std::string_view metric);

}  // namespace tbdsim
