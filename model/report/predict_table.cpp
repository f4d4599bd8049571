#include "model/report/predict_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/report/memory_report_text.hpp"
#include "model/report/network_change_text.hpp"
#include "model/report/profiling_report.hpp"
#include "model/report/run_report.hpp"
#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kLabel = 14;  ///< room of the label that begins each section

/// "Label         text", continued below the text.
std::string section(const std::string& label, const std::string& text) {
  return fmt::format("{:<{}}{}\n", label, kLabel, wrapped(text, kWidth, kLabel));
}

std::string plural(int count, const std::string& noun) { return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s"); }

/// "batch 32 per GPU, 256 in all".
std::string batch_text(const Prediction& p) {
  const int parts =
      p.division.by_layers ? p.division.micro_batches : p.job.global_batch / std::max(1, p.job.batch_per_gpu * p.job.gpus);
  const std::string where = p.division.by_layers && p.division.layout.divides_network() ? "per copy" : "per GPU";
  if (parts <= 1) return fmt::format("batch {} {}, {} in all", p.job.batch_per_gpu, where, p.job.global_batch);
  return fmt::format("{} micro-batches of {} {}, {} an update", parts, p.job.batch_per_gpu, where, p.job.global_batch);
}

/// "7, 8 x 14, 7": layers of stages, those alike next to each other once.
std::string stage_layers_text(const std::vector<int>& layers) {
  std::string text;
  for (std::size_t i = 0, next = 0; i < layers.size(); i = next) {
    while (next < layers.size() && layers[next] == layers[i]) ++next;
    text += fmt::format("{}{}", i == 0 ? "" : ", ", layers[i]);
    if (next - i > 1) text += fmt::format(" x {}", next - i);
  }
  return text;
}

/// Several GPUs, or one whose variables lie on the host.
bool exchanges(const Prediction& p) { return p.job.gpus > 1 || p.phases.exchange_total > Seconds(0.0); }

}  // namespace

bool update_beside_exchange(const PhaseTimes& phases) {
  constexpr Seconds kClock(1e-12);  // less is rounding of sums
  return phases.weight_update_total - phases.weight_update > kClock;
}

std::string layout_text(const Prediction& p) {
  const Layout& l = p.division.layout;
  std::string text = to_text(l);
  if (text.empty()) text = "nothing divided";
  if (l.sequence) text += ", sequence parallel";
  if (!p.division.schedule.empty()) text += fmt::format(", {}", p.division.schedule);
  if (l.virtual_stages > 1) text += fmt::format(" with {} parts a GPU", l.virtual_stages);
  if (!l.stage_layers.empty()) text += fmt::format(", layers {}", stage_layers_text(l.stage_layers));
  if (p.division.zero > 0 && l.data * l.context > 1)
    text += fmt::format(", ZeRO {} ({})", p.division.zero,
                        p.division.zero == 1   ? "state"
                        : p.division.zero == 2 ? "state and gradients"
                                               : "weights, too");
  if (p.division.offload_states > 0.0)
    text += fmt::format(", {} of the states on the host", percent_text(p.division.offload_states));
  if (p.division.offload_layers > 0) text += fmt::format(", activations of {} layers on the host", p.division.offload_layers);
  if (p.division.recompute != "none") text += fmt::format(", {} recomputation", p.division.recompute);
  return text;
}

namespace {

/// What travels along each axis, and how much of it is waited for.
std::string traffic(const Prediction& p) {
  if (p.division.communication.empty()) return "";
  TextTable table({{"axis"},
                   {"GPUs", Align::right},
                   {"sent by each", Align::right},
                   {"time", Align::right},
                   {"exposed", Align::right},
                   {"over"}});
  for (const AxisTraffic& t : p.division.communication)
    table.add({std::string(name(t.axis)), std::to_string(t.ranks), format(t.bytes), format(t.time), format(t.exposed),
               t.leaves_node ? "network" : "node"});
  if (p.division.wait > Seconds(0.0))
    table.add({"wait", std::to_string(p.job.gpus), "", "", format(p.division.wait), "slowest GPU"});
  return "\nWhat a GPU sends along each axis in a step; exposed: what it waits for\n" + table.text(2);
}

std::string title(const Prediction& p) {
  const std::string hardware =
      p.job.hardware == p.job.device ? p.job.device : fmt::format("{} of {}", p.job.device, p.job.hardware);
  const std::string precision = p.job.precision + (p.job.products_in_fp32 ? " (products in fp32)" : "");
  std::string text = section("Workload", fmt::format("{} ({} definition), {}, {}, {}, {}", p.job.model, p.job.variant,
                                                     p.samples.text, batch_text(p), precision, p.job.optimizer));
  std::string where = fmt::format("{} x {}, {}", p.job.gpus, hardware, plural(p.job.nodes, "node"));
  if (!p.job.network.empty())
    where += p.job.ports > 1 ? fmt::format(" on {}, {} ports a node", p.job.network, p.job.ports)
                             : fmt::format(" on {}", p.job.network);
  text += section("Hardware", where);
  if (p.division.by_layers) text += section("Layout", layout_text(p));
  std::string how = fmt::format("{}, {} input", p.job.stack, p.samples.input);
  if (p.input_verdict && !p.input_verdict->storage.empty()) how += fmt::format(" from {}", p.input_verdict->storage);
  if (exchanges(p)) how += fmt::format(", {}", name(p.job.exchange));
  return text + section("Stack", how);
}

std::string headline(const Prediction& p) {
  // A sample that is one part goes by the part's name.
  const std::string unit = p.samples.parts == 1.0 ? p.samples.part : p.samples.unit.empty() ? "sample" : p.samples.unit;
  TextTable table({{""}, {"", Align::right}, {""}});
  table.add({fmt::format("{:<{}}", "Step time", kLabel - 2), format(p.step_time.value),
             fmt::format("80 % range {} to {}", format(p.step_time.low), format(p.step_time.high))});
  table.add({"Throughput", fmt::format("{} {}s/s", number_text(p.throughput.value), unit),
             fmt::format("80 % range {} to {}", number_text(p.throughput.low), number_text(p.throughput.high))});
  if (!p.samples.part.empty() && p.samples.parts != 1.0) {
    const auto parts = [&](double samples) { return number_text(samples * p.samples.parts); };
    table.add({"", fmt::format("{} {}s/s", parts(p.throughput.value), p.samples.part),
               fmt::format("80 % range {} to {}", parts(p.throughput.low), parts(p.throughput.high))});
  }
  return table.text();
}

/// Steps of the buckets that a mean was taken over.
std::string buckets(const Prediction& p) {
  if (p.buckets.empty()) return "";
  TextTable table({{"length"}, {"samples", Align::right}, {"step", Align::right}});
  for (const BucketTime& b : p.buckets) table.add({std::to_string(b.length), percent_text(b.share), format(b.step)});
  return "\nBuckets by length; the figures above are means over samples, memory is that of\nthe fullest\n" + table.text(2);
}

/// Of the step: what lengthens a stage by less is not told. Assumed: the noise of a measured step.
constexpr double kWorthTelling = 0.02;

std::string phases(const Prediction& p) {
  const PhaseTimes& s = p.phases;
  TextTable table({{""}, {"", Align::right}, {"", Align::right}, {""}});
  const auto add = [&](const char* name, Seconds time, const std::string& note) {
    table.add({name, format(time), percent_text(time / p.step_time.value), note});
  };
  add("forward", s.forward, "");
  add("backward", s.backward,
      s.exchange_in_backward > kWorthTelling * p.step_time.value
          ? fmt::format("{} of it added by the exchange beside it", format(s.exchange_in_backward))
          : "");
  if (update_beside_exchange(s)) {
    add("weight update, exposed", s.weight_update,
        fmt::format("{} in all, {} overlapped: where arrays are summed", format(s.weight_update_total),
                    format(s.weight_update_total - s.weight_update)));
  } else {
    add("weight update", s.weight_update, "");
  }
  if (s.metric > Seconds(0.0)) add("metric", s.metric, "evaluation of the batch");
  if (exchanges(p)) {
    constexpr Seconds kClock(1e-12);  // less is rounding of sums
    const Seconds difference = s.exchange_total - s.exchange_exposed, hidden = difference > kClock ? difference : Seconds(0.0);
    add("exchange, exposed", s.exchange_exposed,
        fmt::format("{} in all, {} overlapped", format(s.exchange_total), format(hidden)));
  }
  if (s.bubble > Seconds(0.0)) add("bubble", s.bubble, "waiting until another stage has computed");
  if (s.offload > Seconds(0.0)) add("offload, exposed", s.offload, "waiting for copies to and from the host, and for its update");
  if (s.input_exposed > Seconds(0.0))
    add("input, exposed", s.input_exposed,
        p.input_verdict ? fmt::format("loading {}, {} of it overlapped; copies to the GPUs {}", format(p.input_verdict->load),
                                      format(p.input_verdict->overlapped), format(p.input_verdict->copy))
                        : "");
  add("host, exposed", s.host_exposed, "the GPU waits for the next operation");
  return "Stages of the step; shares are of its time on the slowest GPU\n" + table.text(2);
}

/// Loading and training of a step, what loading is made of, and which of the two waits.
std::string input(const InputVerdict& v, bool environments) {
  std::string text = v.train > Seconds(0.0) ? fmt::format("loading {} and training {} a step, {} of it side by side",
                                                          format(v.load), format(v.train), format(v.overlapped))
                                            : fmt::format("loading {} a step", format(v.load));
  text += fmt::format(
      " (storage {}, {} {} on {}, copy {})", format(v.read), environments ? "environments" : "decoding", format(v.decode),
      plural(v.workers, "worker") + (v.loaders > 1 ? fmt::format(" of {} processes", v.loaders) : ""), format(v.copy));
  if (v.hosts > 0)
    text += fmt::format("; {} other {} prepare{} it and send{} {} to each node", v.hosts, v.hosts == 1 ? "machine" : "machines",
                        v.hosts == 1 ? "s" : "", v.hosts == 1 ? "s" : "", format(v.arriving));
  if (v.sample > Seconds(0.0))
    text += fmt::format("; {} a sample and {} ({})", format(v.sample), environments ? "environment" : "thread", v.decode_of);
  text = section("Input", v.text) + section("", text);
  return v.later_epochs.empty() ? text : text + section("", v.later_epochs);
}

/// What the NCCL store costs beside its collectives.
std::string store(const StoreCost& cost, Seconds step) {
  std::string text = fmt::format("costs {} of the step, {}, beside its collectives: ", format(cost.together),
                                 percent_text(cost.together / step));
  for (std::size_t i = 0; i < cost.parts.size(); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", cost.parts[i].text, format(cost.parts[i].time));
  if (cost.parts.size() > 1) text += " (each alone)";
  return section("NCCL store", text);
}

/// What the processors work on, largest first; nothing where one cause is all.
std::string cpu_causes(const Utilization& u) {
  std::vector<std::pair<std::string, double>> causes{{"input", u.cpu_input},
                                                     {"environments", u.cpu_environment},
                                                     {"launches", u.cpu_launch},
                                                     {"parameter server", u.cpu_server}};
  std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [cause, part] : causes) {
    if (part > 0.0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", cause, percent_text(part));
  }
  return causes[1].second > 0.0 ? fmt::format(" ({})", text) : "";
}

std::string utilization(const Prediction& p) {
  const Utilization& u = p.utilization;
  const bool stages = p.phases.bubble > Seconds(0.0);
  return section(
      "Utilisation",
      fmt::format("GPU busy {}{}; while busy: fp32 {}, tensor cores {}; useful FLOP over peak: fp32 {}, tensor cores {}; "
                  "MFU {}; CPU {}{}",
                  percent_text(u.gpu_busy), stages ? " (mean of all stages)" : "", percent_text(u.fp32),
                  percent_text(u.tensor_core), percent_text(u.fp32_useful), percent_text(u.tensor_core_useful),
                  percent_text(u.mfu), percent_text(u.cpu), cpu_causes(u)));
}

std::string limits(const Prediction& p) {
  std::string text = section("Limit", fmt::format("{}: {}", name(p.limit.resource), p.limit.text));
  std::string next;
  for (std::size_t i = 1; i < p.limits.size(); ++i)
    next += fmt::format("{}{} {}", i == 1 ? "" : ", ", name(p.limits[i].resource), percent_text(p.limits[i].share));
  return next.empty() ? text : text + section("  then", next);
}

std::string memory_parts(const MemoryParts& parts) {
  std::vector<std::pair<std::string, Bytes>> all;
  for (std::size_t i = 0; i < kMemoryPartCount; ++i) all.emplace_back(part_label(static_cast<MemoryPart>(i)), parts.bytes[i]);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [name, bytes] : all) {
    if (bytes > Bytes(0.0)) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, format(bytes));
  }
  return text;
}

std::string host_memory(const MemoryVerdict& memory) {
  return memory.host ? section("Host memory", host_fit_text(*memory.host)) : "";
}

std::string memory(const Prediction& p) {
  if (p.memory.gpus.empty()) return "";
  return section("Memory", fit_text(p.memory)) + section("", memory_parts(fullest(p.memory).parts)) + host_memory(p.memory);
}

std::string cost(const Prediction& p) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (p.cost.hour) add(fmt::format("{:.2f} USD/h", p.cost.hour->base()));
  if (p.cost.million_samples) add(fmt::format("{} USD per million samples", number_text(p.cost.million_samples->base())));
  if (p.cost.sample_energy) add(fmt::format("{} J per sample", number_text(p.cost.sample_energy->base())));
  if (text.empty()) return "";
  return section("Cost", text) + (p.cost.price.text.empty() ? "" : section("", p.cost.price.text));
}

std::string epochs(const EpochEstimate& e) {
  std::string text = fmt::format("{} samples in {} steps take {} (80 % range {} to {})", e.samples, e.steps,
                                 format(e.epoch.value), format(e.epoch.low), format(e.epoch.high));
  text += fmt::format(", {} of it start-up; {} {}", format(e.start_up), plural(e.epochs, "epoch"), format(e.total.value));
  if (e.cost) text += fmt::format(", {:.2f} USD", e.cost->base());
  return section("Epoch", text);
}

std::string provenance(const Prediction& p) {
  std::string text;
  for (const ProvenanceEntry& e : p.provenance) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", e.what, e.kind);
  return section("Constants", text);
}

}  // namespace

std::string predict_table(const Prediction& p, const PredictParts& parts) {
  std::string text = title(p);
  if (parts.change) text += section("Change", network_change_text(*parts.change));
  text += '\n' + headline(p) + '\n' + phases(p) + traffic(p) + '\n';
  if (p.input_verdict) text += input(*p.input_verdict, p.utilization.cpu_environment > 0.0);
  if (parts.store) text += store(*parts.store, p.step_time.value);
  text += utilization(p) + limits(p) + memory(p) + cost(p);
  if (parts.epochs) text += epochs(*parts.epochs);
  if (parts.run) text += run_text(*parts.run);
  if (parts.profiling) text += profiling_text(*parts.profiling, p.step_time.value);
  text += provenance(p);
  text += buckets(p);
  if (parts.layers) text += '\n' + layers_table(p);
  if (parts.kernels) text += '\n' + kernels_table(p);
  if (parts.host) text += '\n' + host_table(p);
  if (parts.links) text += '\n' + links_table(p);
  return text;
}

}  // namespace tbdsim
