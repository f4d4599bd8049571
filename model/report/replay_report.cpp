#include "model/report/replay_report.hpp"

#include <fmt/format.h>

#include "model/report/csv.hpp"
#include "model/report/json_parts.hpp"
#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {

std::string replay_table(const StepReplay& r) {
  const std::string unit = (r.input_unit.empty() ? "sample" : r.input_unit) + "s/s";
  std::string text = paragraph(fmt::format("{} steps of {}, {}{}, replayed as {} on {}", r.steps, r.file, r.tool,
                                           r.device.empty() ? "" : ", " + r.device, r.model, r.hardware));
  text += paragraph(r.changes.empty() ? "No changes: add --set KEY=VALUE or --what-if NAME"
                                      : fmt::format("Changes: {}", fmt::join(r.changes, ", ")),
                    2);
  TextTable table({{""}, {"step", Align::right}, {"80 % range"}, {unit, Align::right}, {"the model alone", Align::right}});
  table.add({"measured", format(r.measured), "", number_text(r.throughput_before), format(r.predicted_before)});
  table.add({"replayed", format(r.replayed.value), fmt::format("{} to {}", format(r.replayed.low), format(r.replayed.high)),
             number_text(r.throughput.value), format(r.predicted_after)});
  text += "\n" + table.text();
  TextTable families({{"family"}, {"measured", Align::right}, {"factor", Align::right}, {"replayed", Align::right}, {""}});
  for (const ReplayedFamily& f : r.families)
    families.add({std::string(trace::name(f.family)), format(f.measured), fmt::format("{:.3f}", f.factor), format(f.replayed),
                  f.own                                     ? ""
                  : f.family == trace::WorkFamily::copy     ? "factor of the batch"
                  : f.family == trace::WorkFamily::exchange ? "not predicted: kept"
                                                            : "factor of all kernels"});
  text += "\nWork of a step, however it overlaps\n" + families.text(2);
  if (r.host_factor != 1.0) text += fmt::format("  host between its calls: factor {:.3f}\n", r.host_factor);
  return text;
}

std::string replay_csv(const StepReplay& r) {
  std::string all = csv_line({"family", "measured_s", "factor", "replayed_s"});
  for (const ReplayedFamily& f : r.families)
    all += csv_line({std::string(trace::name(f.family)), fmt::format("{}", f.measured.base()), fmt::format("{}", f.factor),
                     fmt::format("{}", f.replayed.base())});
  return all + csv_line({"step", fmt::format("{}", r.measured.base()), fmt::format("{}", r.replayed.value / r.measured),
                         fmt::format("{}", r.replayed.value.base())});
}

std::string replay_json(const StepReplay& r) {
  using namespace json;
  Json json{{"schema", "tbdsim.replay/1"}, {"tool", tool()}, {"level", kLevel}};
  json["trace"] = {{"file", r.file}, {"tool", r.tool}, {"device", or_null(r.device)}, {"steps", r.steps}};
  json["config"] = {{"model", r.model}, {"hw", r.hardware}, {"set", r.changes}};
  json["measured_step_time_s"] = r.measured.base();
  json["step_time_s"] = ranged(r.replayed);
  json["predicted_step_time_s"] = {{"before", r.predicted_before.base()}, {"after", r.predicted_after.base()}};
  json["measured_throughput"] = r.throughput_before;
  json["throughput"] = {{"value", r.throughput.value},
                        {"low", r.throughput.low},
                        {"high", r.throughput.high},
                        {"unit", "samples/s"},
                        {"input_unit", r.input_unit}};
  json["host_factor"] = r.host_factor;
  json["families"] = Json::array();
  for (const ReplayedFamily& f : r.families)
    json["families"].push_back({{"family", trace::name(f.family)},
                                {"measured_s", f.measured.base()},
                                {"factor", f.factor},
                                {"replayed_s", f.replayed.base()},
                                {"own", f.own}});
  return text(json);
}

}  // namespace tbdsim
