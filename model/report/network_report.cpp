#include "model/report/network_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/report/csv.hpp"
#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWidth = 80, kArrayName = 26;

/// Line rates are told in bits, as networks are sold.
std::string line_rate(BytesPerSecond rate) { return number_text(8.0 * rate.base() / 1e9) + " Gb/s"; }

std::string rate_or_never(const std::optional<BytesPerSecond>& rate) { return rate ? line_rate(*rate) : "never"; }

std::string milliseconds(Seconds time) { return fmt::format("{:.1f}", time.base() * 1e3); }

std::string heading(const NetworkProfile& p) {
  const Prediction& job = p.job;
  std::string text =
      fmt::format("Workload   {}, batch {} per GPU, {}, {}\n", job.model, job.batch_per_gpu, job.precision, job.stack);
  text += fmt::format("Machines   {} x {} with {} x {}\n", job.nodes, job.hardware_name, job.gpus / job.nodes, job.device);
  text += fmt::format("Network    {}, {} a node; exchange {}\n", job.network, line_rate(p.line_rate), job.exchange);
  text += fmt::format("Step       {}, {} on one node alone\n", format(p.schedules.front().step), format(p.one_node_step));
  const std::string verdict = fmt::format(
      "Verdict    {} nodes {} one: {:.3g} times its throughput, efficiency {:.0f} %, {} the target of {:.0f} %", p.job.nodes,
      p.pays ? "beat" : "do not beat", p.gain, 100.0 * p.efficiency, p.reaches ? "reaching" : "short of", 100.0 * p.target);
  return text + wrapped(verdict, kWidth, 11) + "\n";
}

std::string least(const NetworkProfile& p) {
  TextTable table({{"exchange"},
                   {"step", Align::right},
                   {"gain", Align::right},
                   {"to beat one node", Align::right},
                   {fmt::format("to reach {:.0f} %", 100.0 * p.target), Align::right}});
  for (const ScheduleVerdict& s : p.schedules)
    table.add({s.exchange, format(s.step), number_text(s.gain), rate_or_never(s.least_to_pay), rate_or_never(s.least_to_reach)});
  return "\nLeast line rate of a node's network\n" + table.text(2);
}

std::string arrays(const NetworkProfile& p, int most) {
  TextTable table({{"array", Align::left, kArrayName},
                   {"bytes", Align::right},
                   {"send", Align::right},
                   {"to", Align::right},
                   {"receive", Align::right},
                   {"to", Align::right},
                   {"exposed", Align::right}});
  int shown = 0;
  for (const ArrayTraffic& a : p.arrays) {
    if (shown++ == most) break;
    table.add({a.name, format(a.bytes), milliseconds(a.send_start), milliseconds(a.send_end), milliseconds(a.receive_start),
               milliseconds(a.receive_end), milliseconds(a.exposed)});
  }
  std::string text = "\nArrays, most exposed first; ms from the start of the backward pass\n" + table.text(2);
  const int left = static_cast<int>(p.arrays.size()) - most;
  return left > 0 ? text + fmt::format("  and {} more (--top)\n", left) : text;
}

Json rate_or_null(const std::optional<BytesPerSecond>& rate) { return rate ? Json(rate->base()) : Json(nullptr); }

Json input(const std::string& name, const std::string& file, const std::string& sha256) {
  return {{"name", name},
          {"file", file.empty() ? Json(nullptr) : Json(file)},
          {"sha256", sha256.empty() ? Json(nullptr) : Json(sha256)}};
}

}  // namespace

std::string network_table(const NetworkProfile& p, int most) { return heading(p) + least(p) + arrays(p, most); }

std::string network_json(const NetworkProfile& p) {
  const Prediction& job = p.job;
  Json layers = Json::array(), schedules = Json::array();
  for (const ArrayTraffic& a : p.arrays) {
    layers.push_back({{"name", a.name},
                      {"bytes", a.bytes.base()},
                      {"send_start_s", a.send_start.base()},
                      {"send_end_s", a.send_end.base()},
                      {"receive_start_s", a.receive_start.base()},
                      {"receive_end_s", a.receive_end.base()},
                      {"exposed_s", a.exposed.base()}});
  }
  for (const ScheduleVerdict& s : p.schedules) {
    schedules.push_back({{"exchange", s.exchange},
                         {"step_time_s", s.step.base()},
                         {"gain", s.gain},
                         {"least_bandwidth_bytes_per_s", rate_or_null(s.least_to_pay)},
                         {"least_bandwidth_for_target_bytes_per_s", rate_or_null(s.least_to_reach)}});
  }
  const Json json{{"schema", "tbdsim.network/1"},
                  {"tool", {{"name", "tbdsim"}, {"version", TBDSIM_VERSION}}},
                  {"inputs",
                   {{"hardware", input(job.hardware_name, job.hardware_file, job.hardware_sha256)},
                    {"workload", input(job.model, job.workload_file, job.workload_sha256)},
                    {"stack", input(job.stack, job.stack_file, job.stack_sha256)}}},
                  {"config",
                   {{"gpus", job.gpus},
                    {"nodes", job.nodes},
                    {"network", job.network},
                    {"batch_per_gpu", job.batch_per_gpu},
                    {"precision", job.precision},
                    {"exchange", job.exchange},
                    {"optimizer", job.optimizer}}},
                  {"step_time_s", p.schedules.front().step.base()},
                  {"one_node_step_time_s", p.one_node_step.base()},
                  {"line_rate_bytes_per_s", p.line_rate.base()},
                  {"pays", p.pays},
                  {"gain", p.gain},
                  {"efficiency", p.efficiency},
                  {"target", p.target},
                  {"reaches_target", p.reaches},
                  {"least_bandwidth_bytes_per_s", rate_or_null(p.schedules.front().least_to_pay)},
                  {"least_bandwidth_for_target_bytes_per_s", rate_or_null(p.schedules.front().least_to_reach)},
                  {"schedules", schedules},
                  {"layers", layers}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string network_csv(const NetworkProfile& p) {
  std::string text = csv_line({"name", "bytes", "send_start_s", "send_end_s", "receive_start_s", "receive_end_s", "exposed_s"});
  for (const ArrayTraffic& a : p.arrays) {
    std::vector<std::string> cells{a.name, fmt::format("{:.0f}", a.bytes.base())};
    for (const Seconds time : {a.send_start, a.send_end, a.receive_start, a.receive_end, a.exposed})
      cells.push_back(fmt::format("{:.9g}", time.base()));
    text += csv_line(cells);
  }
  return text;
}

}  // namespace tbdsim
