#include "model/report/axis_report.hpp"

#include <fmt/format.h>

#include "model/report/csv.hpp"
#include "model/report/json_parts.hpp"
#include "model/report/predict_table.hpp"
#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

std::string line_rate(BytesPerSecond rate) { return number_text(8.0 * rate.base() / 1e9) + " Gb/s"; }

std::string line(const std::string& label, const std::string& text) {
  constexpr std::size_t kLabel = 11;
  return fmt::format("{:<{}}{}\n", label, kLabel, wrapped(text, kTextWidth, kLabel));
}

std::string heading(const AxisProfile& profile) {
  const Prediction& p = profile.predicted;
  const Seconds step = p.step_time.value;
  std::string text =
      line("Workload", fmt::format("{}, {} micro-batch{} of {}, {}, {}", p.job.model, p.division.micro_batches,
                                   p.division.micro_batches == 1 ? "" : "es", p.job.batch_per_gpu, p.job.precision, p.job.stack));
  text +=
      line("Machines", fmt::format("{} x {} with {} x {}", p.job.nodes, p.job.hardware, p.job.gpus / p.job.nodes, p.job.device));
  text += line("Layout", layout_text(p));
  text += line("Step", fmt::format("{}, {} of it waiting for collectives, {} for other stages", format(step),
                                   format(p.phases.exchange_exposed), format(p.phases.bubble)));
  if (profile.network.empty()) return text + line("Network", "none: the job runs on one node");
  text += line("Network",
               fmt::format("{}, {} of {} a node", profile.network,
                           p.job.ports > 1 ? fmt::format("{} ports", p.job.ports) : "a port", line_rate(profile.line_rate)));
  return text + line("Verdict", fmt::format("{} on a network of any rate: {} of its speed, {} the target of {}; least line rate "
                                            "of a port for that: {}",
                                            format(profile.without_network), percent_text(profile.efficiency),
                                            profile.reaches ? "reaching" : "short of", percent_text(profile.target),
                                            profile.least_to_reach ? line_rate(*profile.least_to_reach) : "none"));
}

std::string axes(const Prediction& p) {
  TextTable table({{"axis"},
                   {"GPUs", Align::right},
                   {"sent by each", Align::right},
                   {"time", Align::right},
                   {"exposed", Align::right},
                   {"of step", Align::right},
                   {"collectives"}});
  for (const AxisTraffic& t : p.division.communication)
    table.add({std::string(name(t.axis)), std::to_string(t.ranks), format(t.bytes), format(t.time), format(t.exposed),
               percent_text(t.exposed / p.step_time.value), t.kind});
  if (const Seconds wait = p.division.wait; wait > Seconds(0.0))
    table.add({"wait", std::to_string(p.job.gpus), "", "", format(wait), percent_text(wait / p.step_time.value), "slowest GPU"});
  return "\nWhat travels along each axis in a step\n" + table.text(2);
}

std::string tiers(const Prediction& p) {
  TextTable table({{"axis"}, {"tier"}, {"a GPU sends", Align::right}, {"of at most", Align::right}, {"used", Align::right}});
  for (const AxisTraffic& t : p.division.communication)
    for (const TierTraffic& tier : t.tiers)
      table.add({std::string(name(t.axis)), tier.tier, format(tier.bytes), format(tier.capacity),
                 percent_text(tier.bytes / tier.capacity / p.step_time.value)});
  return "\nTiers of the wiring, and the share of the step that their bytes take\n" + table.text(2);
}

}  // namespace

std::string axes_table(const AxisProfile& profile) {
  return heading(profile) + axes(profile.predicted) + tiers(profile.predicted);
}

std::string axes_json(const AxisProfile& profile) {
  using namespace json;
  const Prediction& p = profile.predicted;
  Json object{{"schema", "tbdsim.network/1"}, {"tool", tool()}, {"inputs", inputs(p)}, {"config", config(p)}};
  object["config"]["layout"] = layout(p);
  object["step_time_s"] = p.step_time.value.base();
  object["network"] = or_null(profile.network);
  object["line_rate_bytes_per_s"] = profile.network.empty() ? Json(nullptr) : Json(profile.line_rate.base());
  object["exchange_exposed_s"] = p.phases.exchange_exposed.base();
  object["step_time_without_network_s"] = profile.without_network.base();
  object["efficiency"] = profile.efficiency;
  object["target"] = profile.target;
  object["reaches_target"] = profile.reaches;
  object["least_bandwidth_for_target_bytes_per_s"] = or_null(profile.least_to_reach);
  object["communication"] = communication(p);
  object["layers"] = Json::array();
  return text(object);
}

std::string axes_csv(const AxisProfile& profile) {
  std::string text =
      csv_line({"axis", "kind", "ranks", "tier", "bytes", "capacity_bytes_per_s", "axis_time_s", "axis_exposed_s"});
  for (const AxisTraffic& t : profile.predicted.division.communication)
    for (const TierTraffic& tier : t.tiers)
      text += csv_line({std::string(name(t.axis)), t.kind, std::to_string(t.ranks), tier.tier,
                        fmt::format("{:.0f}", tier.bytes.base()), fmt::format("{:.9g}", tier.capacity.base()),
                        fmt::format("{:.9g}", t.time.base()), fmt::format("{:.9g}", t.exposed.base())});
  return text;
}

}  // namespace tbdsim
