#include "model/report/network_report.hpp"

#include <fmt/format.h>

#include "model/report/csv.hpp"
#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kArrayName = 26;

/// Line rates are told in bits, as networks are sold.
std::string line_rate(BytesPerSecond rate) { return number_text(8.0 * rate.base() / 1e9) + " Gb/s"; }

std::string rate_or_never(const std::optional<BytesPerSecond>& rate) { return rate ? line_rate(*rate) : "never"; }

std::string milliseconds(Seconds time) { return fmt::format("{:.1f}", time.base() * 1e3); }

/// A label and what it tells, in as many lines as that needs.
std::string line(const std::string& label, const std::string& text) {
  constexpr std::size_t kLabel = 11;
  return fmt::format("{:<{}}{}\n", label, kLabel, wrapped(text, kTextWidth, kLabel));
}

/// What `predict` counts as exposed exchange and as updates of the servers, divided.
std::string waiting(const NetworkProfile& p) {
  const Seconds all = p.predicted.phases.exchange_exposed + p.predicted.phases.store_update;
  return fmt::format("{} of the step for the exchange: {} for the arrays below, {} for the slowest GPU", format(all),
                     format(all - p.waiting_for_slowest), format(p.waiting_for_slowest));
}

/// Why the nodes lose less than their waits, or are faster together than alone.
std::string savings(const NetworkProfile& p) {
  const PhaseTimes &job = p.predicted.phases, &alone = p.one_node_phases;
  std::vector<std::string> parts;
  const Seconds update = alone.weight_update - (job.weight_update - job.store_update);
  if (update > Seconds(0.0))
    parts.push_back(
        fmt::format("servers update the weights; alone a node's GPUs do so for {}, which this job saves", format(update)));
  const Seconds waits = alone.exchange_exposed - job.exchange_exposed;
  const Seconds kernels = alone.forward + alone.backward - job.forward - job.backward;
  if (p.gain > p.nodes && waits > Seconds(0.0))
    parts.push_back(fmt::format("alone a node waits {} longer for the exchange of its own GPUs", format(waits)));
  if (p.gain > p.nodes && kernels > Seconds(0.0))
    parts.push_back(fmt::format("alone a node's kernels, beside its all-reduce, take {} longer", format(kernels)));
  return parts.empty() ? "" : line("", fmt::format("{}", fmt::join(parts, "; ")));
}

std::string heading(const NetworkProfile& p) {
  const Prediction& q = p.predicted;
  std::string text =
      fmt::format("Workload   {}, batch {} per GPU, {}, {}\n", q.job.model, q.job.batch_per_gpu, q.job.precision, q.job.stack);
  text += fmt::format("Machines   {} x {} with {} x {}\n", q.job.nodes, q.job.hardware, q.job.gpus / q.job.nodes, q.job.device);
  if (p.emulated) {
    text += fmt::format("Network    {} at {}; exchange {}\n", p.network, line_rate(p.line_rate), name(q.job.exchange));
    text += line("", "emulated: one worker and one server on one machine, which exchange as many bytes as each of two machines");
  } else {
    text += fmt::format("Network    {}, {} of {} a node; exchange {}\n", p.network,
                        q.job.ports > 1 ? fmt::format("{} ports", q.job.ports) : "a port", line_rate(p.line_rate),
                        name(q.job.exchange));
  }
  const std::string how = p.one_node_exchange ? fmt::format(" (exchange {})", name(*p.one_node_exchange)) : "";
  text += fmt::format("Step       {}, {} on one node alone{}\n", format(p.schedules.front().step), format(p.one_node_step), how);
  if (q.input_verdict) text += line("Input", fmt::format("{}: {}", q.samples.input, q.input_verdict->text));
  text += line("Waiting", waiting(p));
  const std::string verdict = fmt::format(
      "{} nodes {} one: {:.3g} times its throughput, efficiency {:.0f} %, {} the target of {:.0f} %", p.nodes,
      p.pays ? "beat" : "do not beat", p.gain, 100.0 * p.efficiency, p.reaches ? "reaching" : "short of", 100.0 * p.target);
  text += line("Verdict", verdict);
  return text + savings(p);
}

std::string least(const NetworkProfile& p) {
  TextTable table({{"exchange"},
                   {"step", Align::right},
                   {"gain", Align::right},
                   {"to beat one node", Align::right},
                   {fmt::format("to reach {:.0f} %", 100.0 * p.target), Align::right}});
  for (const ScheduleVerdict& s : p.schedules)
    table.add({std::string(name(s.exchange)), format(s.step), number_text(s.gain), rate_or_never(s.least_to_pay),
               rate_or_never(s.least_to_reach)});
  return "\nLeast line rate of a port\n" + table.text(2);
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

}  // namespace

std::string network_table(const NetworkProfile& p, int most) { return heading(p) + least(p) + arrays(p, most); }

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
