#include "calibrate/cli/trace_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/support/quote.hpp"
#include "model/units/format.hpp"

namespace tbdsim::calibrate {
namespace {

using trace::Breakdown;
using trace::Nanoseconds;
using trace::Part;

constexpr std::size_t kLongest = 12, kNameWidth = 46;

Seconds seconds(Nanoseconds time) { return Seconds(1e-9 * static_cast<double>(time)); }

double share(Nanoseconds part, Nanoseconds whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

/// The beginning of a long name.
std::string shown(const std::string& name) { return printable(name, kNameWidth); }

std::string csv_text(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

std::optional<Seconds> predicted_of(const std::optional<FamilyTimes>& predicted, const std::string& family) {
  if (!predicted) return std::nullopt;
  for (const trace::WorkFamilyInfo& info : trace::work_families())
    if (info.name == family) return of(*predicted, info.kind);
  return std::nullopt;
}

std::string heading(const trace::Trace& trace, const Breakdown& b) {
  std::string text = trace.tool + (trace.device.empty() ? "" : ", " + shown(trace.device));
  if (trace.on_host) text += ", no device: outermost operators of the host's threads";
  if (b.iterations.devices > 1) text += fmt::format(", {} devices, the busiest is {}", b.iterations.devices, b.iterations.device);
  Nanoseconds shortest = b.iterations.steps.front().end - b.iterations.steps.front().start, longest = shortest;
  for (const trace::Span& step : b.iterations.steps) {
    shortest = std::min(shortest, step.end - step.start);
    longest = std::max(longest, step.end - step.start);
  }
  text += fmt::format("\n{} step{} {}, {} each ({} to {})\n", b.steps(), b.steps() == 1 ? "" : "s",
                      b.iterations.marked  ? "marked by the program"
                      : b.iterations.whole ? "taken to be the whole trace"
                                           : "found by repetition",
                      format(Seconds(b.step_seconds())), format(seconds(shortest)), format(seconds(longest)));
  if (b.iterations.left_out > 0)
    text += fmt::format("{} parts between them ran something else and are left out\n", b.iterations.left_out);
  return text;
}

std::string occupations(const trace::Trace& trace, const Breakdown& b) {
  std::string text = "\nWhere the time of a step goes\n";
  const auto steps = static_cast<double>(b.steps());
  for (std::size_t i = 0; i < trace::kOccupations; ++i) {
    if (b.occupation[i] == 0) continue;
    const bool between = trace.on_host && static_cast<trace::Occupation>(i) == trace::Occupation::waits_host;
    text += fmt::format("  {:<28} {:>10} {:>6.1f} %\n",
                        between ? "between operators" : std::string(name(static_cast<trace::Occupation>(i))),
                        format(seconds(b.occupation[i]) / steps), share(b.occupation[i], b.steps_time));
  }
  return text;
}

std::string list(const char* title, const std::vector<Part>& parts, const Breakdown& b) {
  Nanoseconds all = 0;
  for (const Part& part : parts) all += part.time;
  const auto steps = static_cast<double>(b.steps());
  std::string text = fmt::format("\n{:>10} {:>6}  {:>9}  {}\n", "a step", "share", "calls", title);
  for (std::size_t i = 0; i < std::min(kLongest, parts.size()); ++i)
    text += fmt::format("{:>10} {:>5.1f}%  {:>9.1f}  {}\n", format(seconds(parts[i].time) / steps), share(parts[i].time, all),
                        static_cast<double>(parts[i].count) / steps, shown(parts[i].name));
  if (parts.size() > kLongest) text += fmt::format("and {} more\n", parts.size() - kLongest);
  return text;
}

std::string families(const Breakdown& b, const std::optional<FamilyTimes>& predicted) {
  if (!predicted) return list("family", b.families, b);
  const auto steps = static_cast<double>(b.steps());
  std::string text = fmt::format("\n{:>10} {:>10} {:>9}  {:>9}  family\n", "measured", "predicted", "ratio", "calls");
  const auto row = [&](const std::string& family, Seconds measured, double calls) {
    const Seconds time = predicted_of(predicted, family).value_or(Seconds(0.0));
    const std::string ratio = measured > Seconds(0.0) && time > Seconds(0.0) ? fmt::format("{:.2f}", measured / time) : "-";
    text += fmt::format("{:>10} {:>10} {:>9}  {:>9.1f}  {}\n", format(measured), format(time), ratio, calls, family);
  };
  for (const Part& part : b.families) row(part.name, seconds(part.time) / steps, static_cast<double>(part.count) / steps);
  for (const trace::WorkFamilyInfo& info : trace::work_families()) {
    const bool seen = std::any_of(b.families.begin(), b.families.end(), [&](const Part& part) { return part.name == info.name; });
    if (!seen && of(*predicted, info.kind) > Seconds(0.0)) row(std::string(info.name), Seconds(0.0), 0.0);
  }
  return text + "ratio: measured over predicted\n";
}

}  // namespace

std::string trace_text(const trace::Trace& trace, const Breakdown& b, const std::optional<FamilyTimes>& predicted) {
  std::string text = heading(trace, b) + occupations(trace, b) + families(b, predicted) + list("layer or operator", b.layers, b);
  if (!trace.on_host) text += list("kernel or copy", b.kernels, b);
  return text + fmt::format("\nThe whole trace: {} {}, {:.6f} ms\n", trace.events.size(),
                            trace.on_host ? "operators" : "kernels and copies", 1e-6 * static_cast<double>(b.events_time));
}

std::string_view trace_table_header() { return "by,name,count,time_ns,step_s,predicted_step_s\n"; }

std::string trace_table(const Breakdown& b, const std::optional<FamilyTimes>& predicted) {
  std::string text(trace_table_header());
  const auto steps = static_cast<double>(b.steps());
  const auto add = [&](std::string_view by, const std::string& name, std::size_t count, Nanoseconds time, bool stepped) {
    const auto foreseen = by == "family" ? predicted_of(predicted, name) : std::nullopt;
    text += fmt::format("{},{},{},{},{},{}\n", by, csv_text(name), count, time,
                        stepped ? fmt::format("{:.9g}", 1e-9 * static_cast<double>(time) / steps) : "",
                        foreseen ? fmt::format("{:.9g}", foreseen->base()) : "");
  };
  for (std::size_t i = 0; i < trace::kOccupations; ++i)
    add("occupation", std::string(name(static_cast<trace::Occupation>(i))), b.steps(), b.occupation[i], true);
  for (const Part& part : b.families) add("family", part.name, part.count, part.time, true);
  for (const Part& part : b.layers) add("layer", part.name, part.count, part.time, true);
  for (const Part& part : b.kernels) add("kernel", part.name, part.count, part.time, true);
  for (const Part& part : b.whole) add("whole trace", part.name, part.count, part.time, false);
  return text;
}

}  // namespace tbdsim::calibrate
