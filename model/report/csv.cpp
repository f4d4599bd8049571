#include "model/report/csv.hpp"

#include "model/prediction/host_work.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "model/prediction/kernel_summary.hpp"

namespace tbdsim {
namespace {

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

/// The shortest text that reads back to the same double.
std::string exact(double value) { return fmt::format("{}", value); }
std::string exact(const std::optional<double>& value) { return value ? exact(*value) : ""; }
template <int T, int B, int F, int E, int M>
std::string exact(const std::optional<Quantity<T, B, F, E, M>>& value) {
  return value ? exact(value->base()) : "";
}

using Cells = std::vector<std::pair<std::string, std::string>>;

void add_ranged(Cells& cells, const std::string& name, const std::string& unit, double value, double low, double high) {
  cells.emplace_back(name + unit, exact(value));
  cells.emplace_back(name + "_low" + unit, exact(low));
  cells.emplace_back(name + "_high" + unit, exact(high));
}

Cells predict_cells(const Prediction& p) {
  Cells cells{{"hw", p.job.hardware},
              {"device", p.job.device},
              {"model", p.job.model},
              {"variant", p.job.variant},
              {"stack", p.job.stack},
              {"precision", p.job.precision},
              {"gpus", std::to_string(p.job.gpus)},
              {"nodes", std::to_string(p.job.nodes)},
              {"network", p.job.network},
              {"batch_per_gpu", std::to_string(p.job.batch_per_gpu)},
              {"exchange", std::string(name(p.job.exchange))},
              {"optimizer", p.job.optimizer},
              {"input", p.samples.input}};
  add_ranged(cells, "step_time", "_s", p.step_time.value.base(), p.step_time.low.base(), p.step_time.high.base());
  add_ranged(cells, "throughput", "_samples_per_s", p.throughput.value, p.throughput.low, p.throughput.high);
  const PhaseTimes& s = p.phases;
  for (const auto& [name, time] : {std::pair{"forward_s", s.forward},
                                   {"backward_s", s.backward},
                                   {"weight_update_s", s.weight_update},
                                   {"metric_s", s.metric},
                                   {"exchange_total_s", s.exchange_total},
                                   {"exchange_exposed_s", s.exchange_exposed},
                                   {"input_exposed_s", s.input_exposed},
                                   {"host_exposed_s", s.host_exposed},
                                   {"bubble_s", s.bubble}})
    cells.emplace_back(name, exact(time.base()));
  const Utilization& u = p.utilization;
  for (const auto& [name, share] : {std::pair{"gpu_busy", u.gpu_busy},
                                    {"fp32", u.fp32},
                                    {"tensor_core", u.tensor_core},
                                    {"mfu", u.mfu},
                                    {"cpu", u.cpu},
                                    {"fp32_useful", u.fp32_useful},
                                    {"tensor_core_useful", u.tensor_core_useful}})
    cells.emplace_back(name, exact(share));
  Bytes peak;
  for (const GpuMemory& gpu : p.memory.gpus) peak = std::max(peak, gpu.peak);
  cells.emplace_back("peak_memory_bytes", exact(peak.base()));
  cells.emplace_back("fits", p.memory.fits ? "true" : "false");
  cells.emplace_back("limit", name(p.limit.resource));
  cells.emplace_back("limit_share", exact(p.limit.share));
  cells.emplace_back("usd_per_hour", exact(p.cost.hour));
  cells.emplace_back("usd_per_million_samples", exact(p.cost.million_samples));
  cells.emplace_back("joule_per_sample", exact(p.cost.sample_energy));
  cells.emplace_back("price_basis", p.cost.price.basis);
  cells.emplace_back("price_source", p.cost.price.source);
  return cells;
}

void add_epochs(Cells& cells, const EpochEstimate& e) {
  for (const auto& [name, count] :
       {std::pair{"samples", e.samples}, {"epochs", std::int64_t{e.epochs}}, {"steps_per_epoch", e.steps}})
    cells.emplace_back(name, std::to_string(count));
  add_ranged(cells, "epoch_time", "_s", e.epoch.value.base(), e.epoch.low.base(), e.epoch.high.base());
  add_ranged(cells, "total_time", "_s", e.total.value.base(), e.total.low.base(), e.total.high.base());
  cells.emplace_back("total_usd", e.cost ? exact(e.cost->base()) : "");
  cells.emplace_back("start_up_s", exact(e.start_up.base()));
}

}  // namespace

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i > 0 ? "," : "") + field(fields[i]);
  return line + '\n';
}

std::string predict_csv(const Prediction& prediction, const std::optional<EpochEstimate>& epochs) {
  std::vector<std::string> header, row;
  Cells cells = predict_cells(prediction);
  if (epochs) add_epochs(cells, *epochs);
  for (auto& [name, value] : cells) {
    header.push_back(name);
    row.push_back(std::move(value));
  }
  return csv_line(header) + csv_line(row);
}

std::string layers_csv(const Prediction& prediction) {
  std::string all = csv_line(
      {"name", "kind", "output_shape", "parameters", "forward_s", "backward_data_s", "backward_weights_s", "update_s", "flop"});
  for (const LayerTime& l : prediction.detail.layers)
    all +=
        csv_line({l.name, l.kind, l.shape, std::to_string(l.parameters), exact(l.forward.base()), exact(l.backward_data.base()),
                  exact(l.backward_weights.base()), exact(l.update.base()), exact(l.flop.base())});
  return all;
}

std::string kernels_csv(const Prediction& prediction) {
  std::string all = csv_line({"name", "algorithm", "bound", "launches", "time_s", "time_share", "fp32_utilization", "occupancy",
                              "stall", "useful_utilization", "execution_dependency", "memory_dependency", "synchronisation",
                              "pipe_busy", "instruction_fetch"});
  for (const KernelGroup& g : summarize_kernels(prediction).groups)
    all += csv_line({g.name, g.algorithm, g.bound, std::to_string(g.launches), exact(g.time.base()), exact(g.time_share),
                     exact(g.fp32_utilization), exact(g.occupancy), g.stall, exact(g.useful_utilization), exact(g.stalls[0]),
                     exact(g.stalls[1]), exact(g.stalls[2]), exact(g.stalls[3]), exact(g.stalls[4])});
  return all;
}

std::string host_csv(const Prediction& prediction) {
  std::string all = csv_line({"thread", "cause", "calls", "time_s", "step_share"});
  for (const HostTime& h : longest_first(prediction.detail.host)) {
    const double share = h.time / prediction.step_time.value;
    all += csv_line({h.thread, h.cause, std::to_string(h.calls), exact(h.time.base()), exact(share)});
  }
  return all;
}

std::string links_csv(const Prediction& prediction) {
  std::string all = csv_line({"name", "capacity_bytes_per_s", "bytes", "busy", "used"});
  for (const LinkTraffic& l : prediction.detail.links)
    all += csv_line({l.name, exact(l.capacity.base()), exact(l.bytes.base()), exact(l.busy), exact(l.used)});
  return all;
}

std::string accuracy_csv(const Accuracy& accuracy) {
  std::string all = csv_line({"id", "group", "use", "metric", "unit", "predicted", "low", "high", "measured", "error",
                              "baseline_error", "skipped", "time_error"});
  for (const RowAccuracy& row : accuracy.rows) {
    const bool done = row.skipped.empty();
    const auto figure = [&](double value) { return done ? exact(value) : std::string(); };
    all += csv_line({row.id, row.group, row.fit ? "fit" : "validation", row.metric, row.unit, figure(row.predicted),
                     figure(row.low), figure(row.high), exact(row.measured), figure(row.error), exact(row.baseline_error),
                     row.skipped, figure(row.time_error)});
  }
  return all;
}

}  // namespace tbdsim
