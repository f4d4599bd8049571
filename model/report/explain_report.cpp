#include "model/report/explain_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/prediction/step_parts.hpp"
#include "model/report/csv.hpp"
#include "model/report/memory_report_text.hpp"
#include "model/report/predict_table.hpp"
#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kWidth = 80;

std::string path_text(const Prediction& p) {
  std::string text = fmt::format("Step of {} on {} x {}: {}, 80 % range {} to {}\n", p.job.model, p.job.gpus, p.job.device,
                                 format(p.step_time.value), format(p.step_time.low), format(p.step_time.high));
  if (!p.memory.gpus.empty()) text += wrapped("Memory: " + fit_text(p.memory), kWidth, 2) + '\n';
  if (p.memory.host) text += wrapped("Host memory: " + host_fit_text(*p.memory.host), kWidth, 2) + '\n';
  text += "\nCritical path\n";
  for (const Limit& limit : p.limits) text += "  " + wrapped(limit.text, kWidth - 2, 4) + '\n';
  text += indirect_copies_text(p.exchanged.indirect);
  if (p.phases.bubble > Seconds(0.0))
    text += "\n" + paragraph(fmt::format("The slowest stage waits {} of the step for other stages, the pipeline's bubble; more "
                                         "micro-batches (--accumulate) shrink it.",
                                         percent_text(p.phases.bubble / p.step_time.value)));
  if (p.job.reads_overflow && p.phases.host_exposed > Seconds(0.0))
    text += "\n" + paragraph(fmt::format(
                       "Mixed precision: the host reads whether a gradient overflowed before it issues the update, and so "
                       "cannot run ahead; the GPU waits {} of the step for the host. Small steps may take longer than in "
                       "tf32 or fp32, which need neither this nor casts.",
                       percent_text(p.phases.host_exposed / p.step_time.value)));
  return text;
}

/// What the step of a divided network goes to.
std::string parts_text(const Prediction& p) {
  if (!p.division.by_layers) return "";
  TextTable table({{""}, {"", Align::right}, {"", Align::right}, {""}});
  for (const StepPart& part : step_parts(p))
    table.add({std::string(name(part.kind)), format(part.time), percent_text(part.share), std::string(info(part.kind).text)});
  return "\nWhat the step goes to, on the slowest GPU\n" + table.text(2);
}

std::string layouts_text(const Explanation& explanation) {
  if (!explanation.base.division.by_layers) return "";
  TextTable table({{"layout"}, {"gain", Align::right}, {"step time", Align::right}, {"memory", Align::right}, {""}});
  std::string refused, lacking;
  for (const LayoutOutcome& o : explanation.layouts) {
    if (o.problem.empty() && !o.note.empty()) lacking = o.note;
    if (o.problem.empty())
      table.add({o.options + (o.note.empty() ? "" : " *"), signed_percent_text(o.gain), format(o.step_time.value), format(o.peak),
                 o.fits ? "" : "does not fit"});
    else
      refused += (refused.empty() ? "" : ", ") + o.changes;
  }
  std::string text = "\nOther layouts of the same GPUs and global batch, one change each\n" +
                     (table.empty() ? "  none that this job could have\n" : table.text(2));
  if (!lacking.empty()) text += "  " + wrapped("*: " + lacking, kWidth - 2, 4) + '\n';
  if (!refused.empty()) text += "  " + wrapped("not possible: " + refused, kWidth - 2, 4) + '\n';
  return text;
}

std::string checks_text(const std::vector<HealthCheck>& checks) {
  TextTable table({{""}, {""}, {""}});
  for (const HealthCheck& check : checks) table.add({check.passed ? "ok" : "LOOK", check.name, check.text});
  return "\nHealth\n" + table.text(2);
}

std::string what_ifs_table(const Explanation& explanation, bool hardware) {
  TextTable table({{"what if", Align::left, 0, true}, {"gain", Align::right}, {"step time", Align::right}, {"then limited by"}});
  for (const WhatIfOutcome& outcome : explanation.what_ifs) {
    if (!outcome.problem.empty() || outcome.hardware != hardware) continue;
    table.add(
        {outcome.name, signed_percent_text(outcome.gain), format(outcome.step_time.value),
         outcome.fits ? fmt::format("{} {}", name(outcome.limit.resource), percent_text(outcome.limit.share)) : "does not fit"});
  }
  return table.empty() ? "  none that would change the step\n" : table.text(2);
}

/// Of changes that gain, as of no other is it of interest.
std::string notes_text(const Explanation& explanation) {
  std::string text;
  for (const WhatIfOutcome& outcome : explanation.what_ifs)
    if (outcome.problem.empty() && !outcome.note.empty() && outcome.gain >= kWorthAChange)
      text += "  " + wrapped(fmt::format("{}: {}", outcome.name, outcome.note), kWidth - 2, 4) + '\n';
  return text;
}

std::string combined_text(const Explanation& explanation) {
  if (!explanation.combined) return "";
  const CombinedSettings& c = *explanation.combined;
  return "  " +
         wrapped(fmt::format("together {}, {}, then limited by {} {}{}: {}", signed_percent_text(c.gain),
                             format(c.step_time.value), name(c.limit.resource), percent_text(c.limit.share),
                             c.fits ? "" : ", does not fit", fmt::join(c.options, " ")),
                 kWidth - 2, 4) +
         '\n';
}

std::string what_ifs_text(const Explanation& explanation) {
  std::string rest, useless;
  for (const WhatIfOutcome& outcome : explanation.what_ifs) {
    if (outcome.problem.empty()) continue;
    std::string& names = outcome.cannot_help ? useless : rest;
    names += (names.empty() ? "" : ", ") + outcome.name;
    if (!outcome.cannot_help && !outcome.reason.empty()) names += fmt::format(" ({})", outcome.reason);
  }
  std::string text =
      "\nThroughput after each change of settings and software (--what-if NAME, or the\noption as it stands, with any verb)\n" +
      what_ifs_table(explanation, false) + notes_text(explanation) + combined_text(explanation) +
      "\nThroughput on other hardware (--what-if NAME)\n" + what_ifs_table(explanation, true);
  if (!useless.empty())
    text += "  " +
            wrapped(fmt::format("change throughput by less than {:.1f} %: {}", 100.0 * kWorthAChange, useless), kWidth - 2, 4) +
            '\n';
  if (!rest.empty()) text += "\n" + wrapped("No effect or not applicable: " + rest, kWidth, 2) + '\n';
  return text;
}

}  // namespace

std::string explain_table(const Explanation& explanation) {
  return path_text(explanation.base) + parts_text(explanation.base) + layouts_text(explanation) +
         checks_text(explanation.checks) + what_ifs_text(explanation);
}

std::string explain_csv(const Explanation& explanation) {
  std::string all = csv_line({"what_if", "gain", "step_time_s", "fits", "limit", "limit_share", "problem", "kind"});
  for (const WhatIfOutcome& o : explanation.what_ifs) {
    if (o.problem.empty())
      all += csv_line({o.name, fmt::format("{}", o.gain), fmt::format("{}", o.step_time.value.base()), o.fits ? "true" : "false",
                       std::string(name(o.limit.resource)), fmt::format("{}", o.limit.share), "",
                       o.hardware ? "hardware" : "setting"});
    else
      all += csv_line({o.name, "", "", "", "", "", o.problem, o.hardware ? "hardware" : "setting"});
  }
  for (const LayoutOutcome& o : explanation.layouts)
    all += o.problem.empty() ? csv_line({o.options, fmt::format("{}", o.gain), fmt::format("{}", o.step_time.value.base()),
                                         o.fits ? "true" : "false", "", "", "", "layout"})
                             : csv_line({o.options, "", "", "", "", "", o.problem, "layout"});
  return all;
}

}  // namespace tbdsim
