#include "model/report/plan_report.hpp"
#include "model/plan/predict_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "model/report/csv.hpp"
#include "model/report/run_report.hpp"
#include "model/report/text_table.hpp"
#include "model/study/ownership.hpp"
#include "model/study/payment.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

using plan::Plan;
using plan::PlanRow;

constexpr Seconds kDay{86400.0};

Bytes fullest(const Prediction& p) {
  Bytes most(0.0);
  for (const GpuMemory& gpu : p.memory.gpus) most = std::max(most, gpu.peak);
  return most;
}

/// Throughput of each GPU, in tokens where the network has them.
double rate_per_gpu(const Prediction& p) {
  const double parts = p.samples.part.empty() ? 1.0 : p.samples.parts;
  return p.throughput.value * parts / p.job.gpus;
}

/// "; with 6, 4, 3 parts at most 1.9 % slower"; empty: nothing was left out beside the row.
std::string folded_text(const plan::Folded& folded) {
  if (folded.virtual_stages.empty()) return "";
  return fmt::format("; with {} parts at most {} slower", fmt::join(folded.virtual_stages, ", "), percent_text(folded.behind));
}

std::string layout_text(const Prediction& p) {
  std::string text = to_text(p.division.layout);
  if (text.empty()) text = "one GPU";
  const Layout& layout = p.division.layout;
  if (layout.expert > 1 && layout.tensor > 1) text += fmt::format(", expert tensor {}", layout.expert_tensor);
  if (!p.division.schedule.empty()) text += ", " + p.division.schedule;
  if (p.division.layout.virtual_stages > 1) text += fmt::format(" {} parts", p.division.layout.virtual_stages);
  if (p.division.zero > 0) text += fmt::format(", zero {}", p.division.zero);
  if (p.division.recompute != "none") text += fmt::format(", recompute {}", p.division.recompute);
  return text + fmt::format("; {} x {} samples", p.division.micro_batches, p.job.batch_per_gpu);
}

std::string job_text(const Plan& plan) {
  const Prediction& best = plan.rows.front().prediction;
  std::string text = paragraph(fmt::format("Job       {}, {}, {} an update, {}, {}, {}", best.job.model, best.samples.text,
                                           best.job.global_batch, best.job.precision, best.job.optimizer, best.job.stack),
                               10);
  if (!plan.several)
    text += paragraph(
        fmt::format("Hardware  {} x {} of {}, {} {}{}", best.job.gpus, best.job.device, best.job.hardware, best.job.nodes,
                    best.job.nodes == 1 ? "node" : "nodes", best.job.network.empty() ? "" : " on " + best.job.network),
        10);
  const plan::PlanCounts& counts = plan.counts;
  text += paragraph(fmt::format("Searched  {} layouts: {}{} out of memory, {} left", counts.tried,
                                counts.slow > 0 ? fmt::format("{} slower than those kept, ", counts.slow) : "",
                                counts.out_of_memory, counts.tried - counts.slow - counts.out_of_memory),
                    10);
  if (plan.interrupted) text += paragraph("          interrupted: layouts that were not tried may be better", 10);
  return text + "\n";
}

/// The rows, and after them the layout of `--layout-from`, with what stands before each.
std::vector<std::pair<std::string, const PlanRow*>> labelled(const Plan& plan) {
  std::vector<std::pair<std::string, const PlanRow*>> rows;
  for (const PlanRow& row : plan.rows) rows.emplace_back(std::to_string(rows.size() + 1), &row);
  if (plan.yours) rows.emplace_back("yours", &*plan.yours);
  return rows;
}

std::string paid_text(const Prediction& p) {
  const PaidBy by = paid_by(p);
  return by == PaidBy::nothing ? "-" : by == PaidBy::purchase ? "bought" : "rented";
}

std::string number_table(const Plan& plan, Objective objective) {
  const Prediction& best = plan.rows.front().prediction;
  const std::string unit = (best.samples.part.empty() ? best.samples.unit : best.samples.part) + "s/s each";
  std::vector<TextTable::Column> columns{{"", Align::right}};
  if (plan.several) columns.push_back({"GPUs", Align::right});
  if (plan.several) columns.push_back({"of"});
  columns.insert(columns.end(), {{"step", Align::right},
                                 {"80 % range", Align::right},
                                 {unit, Align::right},
                                 {"MFU", Align::right},
                                 {"memory", Align::right},
                                 {"free", Align::right}});
  if (objective == Objective::cost) columns.push_back({"USD/M " + best.samples.unit + "s", Align::right});
  if (objective == Objective::cost) columns.push_back({"paid"});
  if (objective == Objective::energy) columns.push_back({"J with host", Align::right});
  columns.insert(columns.end(), {{"behind", Align::right}, {""}});
  TextTable table(std::move(columns));
  for (const auto& [label, at] : labelled(plan)) {
    const PlanRow& row = *at;
    const Prediction& p = row.prediction;
    std::vector<std::string> cells{label};
    if (plan.several) cells.push_back(std::to_string(p.job.gpus));
    if (plan.several) cells.push_back(p.job.hardware);
    const Bytes peak = fullest(p);
    cells.insert(cells.end(),
                 {format(p.step_time.value), fmt::format("{} - {}", format(p.step_time.low), format(p.step_time.high)),
                  number_text(rate_per_gpu(p)), percent_text(p.utilization.mfu), format(peak),
                  p.memory.fits ? format(p.memory.capacity - peak) : "too big"});
    if (objective == Objective::cost) cells.push_back(p.cost.million_samples ? number_text(p.cost.million_samples->base()) : "-");
    if (objective == Objective::cost) cells.push_back(paid_text(p));
    const auto energy = node_energy(p);
    if (objective == Objective::energy) cells.push_back(energy ? number_text(energy->base()) : "-");
    cells.push_back(&row == &plan.rows.front() ? "best" : signed_percent_text(row.behind));
    cells.push_back(fmt::format("{}{}", row.apart ? "" : "?", plan.several && row.front ? "*" : ""));
    table.add(std::move(cells));
  }
  return table.text();
}

std::string layout_table(const Plan& plan) {
  TextTable table({{"", Align::right}, {"layout; micro-batches x samples"}, {"limit"}});
  for (const auto& [label, row] : labelled(plan)) {
    const Prediction& p = row->prediction;
    const std::string variant = row->variant.empty() ? "" : "; " + row->variant;
    table.add({label, layout_text(p) + variant + folded_text(row->folded),
               fmt::format("{} {}", name(p.limit.resource), percent_text(p.limit.share))});
  }
  return "\n" + table.text();
}

/// Runs of so many tokens.
std::string run_table(const Plan& plan) {
  if (!plan.rows.front().run) return "";
  TextTable table({{"", Align::right},
                   {"run", Align::right},
                   {"goodput", Align::right},
                   {"power", Align::right},
                   {"energy", Align::right},
                   {"cost", Align::right},
                   {"paid"},
                   {"spare nodes", Align::right}});
  for (const auto& [label, row] : labelled(plan)) {
    const RunEstimate& run = *row->run;
    table.add({label, format(run.elapsed.value), percent_text(run.goodput.share), run.power ? format(*run.power) : "-",
               run.energy ? format(*run.energy) : "-", run.cost ? format(*run.cost) : "-", paid_text(row->prediction),
               std::to_string(run.spares)});
  }
  return "\n" + table.text() + run_text(*plan.rows.front().run);
}

/// What each machine is paid by, with date and source, and what follows of unlike payments.
std::string price_lines(const Plan& plan, Objective objective) {
  if (objective != Objective::cost && !plan.rows.front().run && !plan.several) return "";
  std::set<std::tuple<std::string, std::string, std::string>> told;  // machine, how it is paid, source
  std::string text = "\nCosts are of\n";
  for (const auto& [label, row] : labelled(plan)) {
    const Prediction& p = row->prediction;
    const PriceBasis& price = p.cost.price;
    if (!told.emplace(p.job.hardware, paid_text(p), price.source).second) continue;
    text += "  " +
            wrapped(!p.cost.hour
                        ? fmt::format("{}: no price is known (--set hw.price='9000 USD' or hw.rent='3 USD/h')", p.job.hardware)
                        : fmt::format("{}: {}, {}{} [{}]", p.job.hardware, paid_text(p), price.text,
                                      price.note.empty() ? "" : " (" + price.note + ")", price.source),
                    kTextWidth, 4) +
            "\n";
  }
  if (plan::paid_unlike(plan.rows))
    text += paragraph(
        "Some rows are bought, which is paid over years of use, others rented: their costs are no measure of each other. An "
        "order "
        "by cost compares only rows that are paid alike.",
        2);
  return text;
}

std::string again_table(const std::vector<plan::Replanned>& again) {
  if (again.empty()) return "";
  TextTable table({{"planned again with"}, {"gain", Align::right}, {"as it was", Align::right}, {"best layout"}});
  for (const plan::Replanned& one : again) {
    if (one.best.empty())
      table.add({one.change, "-", "-", one.problem});
    else
      table.add({one.change, signed_percent_text(one.gain), signed_percent_text(one.unplanned),
                 layout_text(one.best.front().prediction)});
  }
  return "\n" + table.text();
}

}  // namespace

std::string plan_table(const Plan& plan, Objective objective, const std::vector<plan::Replanned>& again) {
  std::string text =
      job_text(plan) + number_table(plan, objective) + layout_table(plan) + run_table(plan) + price_lines(plan, objective) + "\n";
  const auto alike = std::count_if(plan.rows.begin(), plan.rows.end(), [](const PlanRow& row) { return !row.apart; });
  if (alike > 0)
    text +=
        paragraph(fmt::format("? {} row(s) cannot be told apart from the best: the range of the speed-up holds 1.", alike), 2);
  if (plan.several) text += "* nothing here is better in time, cost and energy together.\n";
  for (const std::string& problem : plan.problems) text += paragraph(problem, 2);
  text += "Each row in full:\n";
  for (const auto& [label, row] : labelled(plan))
    text += wrapped(fmt::format("{:>2}  {}", label, plan::predict_command(row->options)), kTextWidth, 4) + "\n";
  return text + again_table(again);
}

// Long because every column has a line, and every field.
std::string plan_csv(const Plan& plan) {
  std::string all = csv_line({"rank",
                              "hw",
                              "gpus",
                              "step_time_s",
                              "step_time_low_s",
                              "step_time_high_s",
                              "throughput_samples_per_s",
                              "parts_per_s_per_gpu",
                              "mfu",
                              "peak_memory_bytes",
                              "memory_capacity_bytes",
                              "limit",
                              "limit_share",
                              "usd_per_million_samples",
                              "joule_per_sample",
                              "behind",
                              "apart",
                              "front",
                              "tensor",
                              "context",
                              "expert",
                              "pipeline",
                              "data",
                              "virtual_stages",
                              "schedule",
                              "zero",
                              "micro_batch",
                              "micro_batches",
                              "recompute",
                              "command",
                              "tried",
                              "other_virtual_stages",
                              "expert_tensor",
                              "paid_by",
                              "run_days",
                              "run_goodput",
                              "run_power_w",
                              "run_energy_j",
                              "run_cost_usd",
                              "run_spare_nodes",
                              "joule_per_sample_with_host"});
  const auto exact = [](const auto& value) { return value ? fmt::format("{}", value->base()) : std::string(); };
  for (const auto& [label, at] : labelled(plan)) {
    const PlanRow& row = *at;
    const Prediction& p = row.prediction;
    const auto of_run = [&](const auto& value) { return row.run ? fmt::format("{}", value(*row.run)) : std::string(); };
    all += csv_line({label,
                     p.job.hardware,
                     std::to_string(p.job.gpus),
                     fmt::format("{}", p.step_time.value.base()),
                     fmt::format("{}", p.step_time.low.base()),
                     fmt::format("{}", p.step_time.high.base()),
                     fmt::format("{}", p.throughput.value),
                     fmt::format("{}", rate_per_gpu(p)),
                     fmt::format("{}", p.utilization.mfu),
                     fmt::format("{}", fullest(p).base()),
                     fmt::format("{}", p.memory.capacity.base()),
                     std::string(name(p.limit.resource)),
                     fmt::format("{}", p.limit.share),
                     exact(p.cost.million_samples),
                     exact(p.cost.sample_energy),
                     fmt::format("{}", row.behind),
                     row.apart ? "true" : "false",
                     row.front ? "true" : "false",
                     std::to_string(p.division.layout.tensor),
                     std::to_string(p.division.layout.context),
                     std::to_string(p.division.layout.expert),
                     std::to_string(p.division.layout.pipeline),
                     std::to_string(p.division.layout.data),
                     std::to_string(p.division.layout.virtual_stages),
                     p.division.schedule,
                     std::to_string(p.division.zero),
                     std::to_string(p.job.batch_per_gpu),
                     std::to_string(p.division.micro_batches),
                     p.division.recompute,
                     plan::predict_command(row.options),
                     row.variant,
                     fmt::format("{}", fmt::join(row.folded.virtual_stages, " ")),
                     std::to_string(p.division.layout.expert_tensor),
                     std::string(name(paid_by(p))),
                     of_run([](const RunEstimate& r) { return r.elapsed.value / kDay; }),
                     of_run([](const RunEstimate& r) { return r.goodput.share; }),
                     row.run ? exact(row.run->power) : "",
                     row.run ? exact(row.run->energy) : "",
                     row.run ? exact(row.run->cost) : "",
                     of_run([](const RunEstimate& r) { return r.spares; }),
                     exact(node_energy(p))});
  }
  return all;
}

}  // namespace tbdsim
