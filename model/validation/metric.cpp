#include "model/validation/metric.hpp"

#include <algorithm>

namespace tbdsim {
namespace {

constexpr std::string_view kPerSecond = "s/s";

Ranged<double> scaled(double value, double reference, double low, double high) {
  if (reference == 0.0) return {value, value, value};
  return {value, value * (low / reference), value * (high / reference)};
}

/// `busy` seconds of the step's stages, with the time the device waits for the host meanwhile.
Ranged<double> stage_value(const Prediction& prediction, Seconds stage) {
  const Ranged<Seconds>& step = prediction.step_time;
  return scaled(stage.base(), step.value.base(), step.low.base(), step.high.base());
}

using MemoryField = Bytes GpuMemory::*;

std::optional<Ranged<double>> memory_value(const Prediction& prediction, MemoryField field) {
  const std::vector<GpuMemory>& gpus = prediction.memory.gpus;
  const auto fullest =
      std::max_element(gpus.begin(), gpus.end(), [&](const GpuMemory& a, const GpuMemory& b) { return a.*field < b.*field; });
  if (fullest == gpus.end()) return std::nullopt;
  return scaled((*fullest.*field).base(), fullest->peak.base(), fullest->low.base(), fullest->high.base());
}

std::optional<Ranged<double>> pre_training(const Prediction& prediction) {
  const std::vector<GpuMemory>& gpus = prediction.memory.gpus;
  const auto most = std::max_element(gpus.begin(), gpus.end(),
                                     [](const GpuMemory& a, const GpuMemory& b) { return a.pre_training < b.pre_training; });
  if (most == gpus.end()) return std::nullopt;
  return Ranged<double>{most->pre_training.base(), most->pre_training_low.base(), most->pre_training_high.base()};
}

/// Of the GPU that holds least.
std::optional<Ranged<double>> least_peak(const Prediction& prediction) {
  const std::vector<GpuMemory>& gpus = prediction.memory.gpus;
  const auto least =
      std::min_element(gpus.begin(), gpus.end(), [](const GpuMemory& a, const GpuMemory& b) { return a.peak < b.peak; });
  if (least == gpus.end()) return std::nullopt;
  return Ranged<double>{least->peak.base(), least->low.base(), least->high.base()};
}

}  // namespace

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> kMetrics = {
      {"throughput", MetricKind::rate, "samples/s", 1.0},
      {"step_time_s", MetricKind::time, "s", 1.0},
      {"forward_s", MetricKind::time, "s", 1.0 / 3.0},
      {"backward_s", MetricKind::time, "s", 2.0 / 3.0},
      {"forward_backward_s", MetricKind::time, "s", 1.0},
      {"weight_update_s", MetricKind::time, "s", 0.0},
      {"peak_memory_bytes", MetricKind::size, "bytes", 0.0},
      {"peak_allocated_bytes", MetricKind::size, "bytes", 0.0},
      {"peak_reserved_bytes", MetricKind::size, "bytes", 0.0},
      {"pre_training_bytes", MetricKind::size, "bytes", 0.0},
      {"least_peak_memory_bytes", MetricKind::size, "bytes", 0.0},
      {"max_batch_per_gpu", MetricKind::size, "samples", 0.0},
      {"bus_bandwidth", MetricKind::rate, "bytes/s", 0.0},
      {"efficiency", MetricKind::rate, "1", 0.0},
  };
  return kMetrics;
}

const Metric* find_metric(std::string_view name) {
  const auto found = std::find_if(metrics().begin(), metrics().end(), [&](const Metric& metric) { return metric.name == name; });
  return found == metrics().end() ? nullptr : &*found;
}

bool is_rate_unit(std::string_view unit) { return unit.size() > kPerSecond.size() && unit.ends_with(kPerSecond); }

std::optional<double> units_per_sample(const Prediction& prediction, std::string_view unit) {
  if (unit.empty() || unit == "samples/s" || unit == prediction.samples.unit + std::string(kPerSecond)) return 1.0;
  const std::string own = prediction.samples.part + std::string(kPerSecond);
  const bool tokens =
      unit == "tokens/s" && own.size() >= unit.size() && own.compare(own.size() - unit.size(), unit.size(), unit) == 0;
  if (unit != own && !tokens) return std::nullopt;
  return prediction.samples.parts;
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric& metric : metrics()) names.emplace_back(metric.name);
  return names;
}

std::optional<Ranged<double>> metric_value(const Prediction& prediction, std::string_view metric) {
  const Ranged<Seconds>& step = prediction.step_time;
  const PhaseTimes& stages = prediction.phases;
  if (metric == "throughput") return prediction.throughput;
  if (metric == "step_time_s") return Ranged<double>{step.value.base(), step.low.base(), step.high.base()};
  const Seconds forward = stages.forward + stages.host_forward + stages.exchange_forward;
  const Seconds backward = stages.backward + stages.host_backward + stages.exchange_backward;
  if (metric == "forward_s") return stage_value(prediction, forward);
  if (metric == "backward_s") return stage_value(prediction, backward);
  if (metric == "forward_backward_s") return stage_value(prediction, forward + backward);
  if (metric == "weight_update_s") return stage_value(prediction, stages.weight_update + stages.host_update);
  if (metric == "peak_memory_bytes") return memory_value(prediction, &GpuMemory::peak);
  if (metric == "least_peak_memory_bytes") return least_peak(prediction);
  if (metric == "max_batch_per_gpu") return prediction.largest_batch;
  if (metric == "peak_allocated_bytes") return memory_value(prediction, &GpuMemory::allocated);
  if (metric == "peak_reserved_bytes") return memory_value(prediction, &GpuMemory::reserved);
  if (metric == "pre_training_bytes") return pre_training(prediction);
  return std::nullopt;
}

}  // namespace tbdsim
