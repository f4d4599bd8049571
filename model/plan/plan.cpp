#include "model/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "model/configuration/choose_layout.hpp"
#include "model/plan/part_file.hpp"
#include "model/plan/plan_jobs.hpp"
#include "model/plan/variants.hpp"
#include "model/study/speedup.hpp"
#include "model/units/format.hpp"

namespace tbdsim::plan {
namespace {

/// What the objective makes least; nothing: it is not known.
std::optional<double> figure(const Prediction& p, Objective objective) {
  if (objective == Objective::time) return 1.0 / p.throughput.value;
  if (objective == Objective::cost) {
    if (!p.cost.million_samples) return std::nullopt;
    return p.cost.million_samples->base();
  }
  if (!p.cost.sample_energy) return std::nullopt;
  return p.cost.sample_energy->base();
}

Bytes fullest_peak(const Prediction& p) {
  Bytes most(0.0);
  for (const GpuMemory& gpu : p.memory.gpus) most = std::max(most, gpu.peak);
  return most;
}

/// What a row is ranked by.
std::optional<double> figure(const PlanRow& row, const PlanOptions& options) {
  if (options.by_run && row.run) return row.run->elapsed.value.base();
  return figure(row.prediction, options.objective);
}

/// Whether another row is no worse in time, cost and energy, and better in one. What is not known of one counts in neither.
bool beats(const Prediction& a, const Prediction& b) {
  bool better = false;
  for (const Objective objective : {Objective::time, Objective::cost, Objective::energy}) {
    const auto own = figure(a, objective), other = figure(b, objective);
    if (!own || !other) continue;
    if (*own > *other) return false;
    better = better || *own < *other;
  }
  return better;
}

void rank(std::vector<PlanRow>& rows, const PlanOptions& options) {
  const auto key = [&](const PlanRow& row) {
    return std::pair(figure(row, options).value_or(std::numeric_limits<double>::infinity()), fullest_peak(row.prediction));
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const PlanRow& a, const PlanRow& b) { return key(a) < key(b); });
  if (rows.empty()) return;
  const Prediction& best = rows.front().prediction;
  const auto least = figure(rows.front(), options);
  for (PlanRow& row : rows) {
    const auto own = figure(row, options);
    row.behind = least && own ? *own / *least - 1.0 : 0.0;
    row.front = std::none_of(rows.begin(), rows.end(), [&](const PlanRow& o) { return beats(o.prediction, row.prediction); });
    if (&row == &rows.front()) continue;
    const Ranged<double> ratio = speedup_range(row.prediction, best, row.prediction.throughput.value / best.throughput.value);
    row.apart = ratio.low > 1.0 || ratio.high < 1.0;
  }
}

/// Estimates the runs of rows and drops those that break a limit. Errors: a job that gets nowhere; no row within the limits.
Result<void> keep_limits(Session& session, const PlanOptions& options, std::vector<PlanRow>& rows) {
  if (!options.tokens) return {};
  const Prediction& first = rows.front().prediction;
  const auto node_hour = first.cost.hour ? std::optional((1.0 / first.job.nodes) * *first.cost.hour) : std::nullopt;
  if (Errors wrong = check_limits(options.limits, node_hour); !wrong.empty()) return tl::make_unexpected(wrong);
  std::optional<RunEstimate> nearest;
  double least = std::numeric_limits<double>::infinity();
  std::vector<PlanRow> kept;
  for (PlanRow& row : rows) {
    auto run = estimate_run(session, row.options, row.prediction, *options.tokens);
    if (!run) return tl::make_unexpected(run.error());
    const RunMargins used = margins(*run, options.limits);
    const double most = std::max({used.deadline.value_or(0.0), used.budget.value_or(0.0), used.power.value_or(0.0)});
    if (most < least) {
      least = most;
      nearest = *run;
    }
    if (!used.within()) continue;
    row.run = std::move(*run);
    kept.push_back(std::move(row));
  }
  if (kept.empty()) return fail("no layout keeps the limits: " + shortfall(*nearest, options.limits));
  rows = std::move(kept);
  return {};
}

/// Why there is no layout at all: what `predict` says of the axes that are kept, else of the first layout that was refused.
Errors no_layout(const Configuration& base, const PredictOptions& job, const Found& found) {
  PredictOptions kept = job;
  if (!kept.batch) kept.batch = 1;
  if (!kept.pipeline_parallel && (!kept.schedule.empty() || kept.virtual_stages.value_or(1) > 1)) kept.pipeline_parallel = 2;
  Configuration tried = base;
  if (Errors errors = choose_layout(kept, tried); !errors.empty()) return errors;
  const bool all = job.tensor_parallel && job.context_parallel && job.pipeline_parallel && job.batch;
  if (Errors errors = choose_division(kept, tried); all && !errors.empty()) return errors;
  const std::string kept_axes = kept_text(job);
  std::string why = fmt::format("no layout of {} on {} GPUs{}{} makes updates of {} samples", base.network_graph().graph.name,
                                base.gpus, kept_axes.empty() ? "" : " with ", kept_axes, *job.global_batch);
  if (!found.refusals.empty()) why += fmt::format("; the first was refused: {}", found.refusals.front().message);
  return {{std::move(why)}};
}

/// Why nothing was found.
Errors nothing_found(const Variants& variants, const Found& found) {
  if (found.interrupted) return {{"plan: interrupted before a layout that fits was found"}};
  const Configuration& base = variants.first().base;
  if (found.counts.tried == 0) return no_layout(base, variants.first().job, found);
  const Bytes capacity = usable_capacity(base.hardware().device), least = found.smallest->memory;
  return {{fmt::format(
      "{} fits in none of {} layouts on {} GPUs: the smallest takes {} of the {} of {}, {} too much ({}); take more "
      "GPUs, or GPUs with more memory",
      base.network_graph().graph.name, found.counts.tried, base.gpus, format(least), format(capacity), base.hardware().device.id,
      format(std::max(Bytes(0.0), least - capacity)), predict_command(variants.options_of(*found.smallest)))}};
}

/// Layouts that differ in virtual stages alone are alike.
auto likeness(const Candidate& c) {
  const Layout& l = c.layout;
  return std::tuple(l.tensor, l.context, l.expert, l.expert_tensor, l.pipeline, c.schedule, c.batch, c.zero, c.recompute,
                    c.variant);
}
using Likeness = decltype(likeness(Candidate()));

/// What was left out beside a row.
Folded folded_beside(const Candidate& row, const std::vector<Candidate>& all) {
  Folded folded;
  for (const Candidate& other : all) {
    if (likeness(other) != likeness(row) || other.layout.virtual_stages == row.layout.virtual_stages) continue;
    folded.virtual_stages.push_back(other.layout.virtual_stages);
    folded.behind = std::max(folded.behind, other.time / row.time - 1.0);
  }
  return folded;
}

/// The next of the layouts that are unlike each other and all rows so far.
std::vector<std::size_t> next_unlike(const std::vector<Candidate>& all, std::set<Likeness> known, std::vector<bool>& seen,
                                     std::size_t most) {
  std::vector<std::size_t> next;
  for (std::size_t i = 0; i < all.size() && next.size() < most; ++i) {
    if (seen[i] || !known.insert(likeness(all[i])).second) continue;
    seen[i] = true;
    next.push_back(i);
  }
  return next;
}

/// Predicts layouts in order until so many fit. Errors: what `predict` says of the first that it refuses, where none fits.
Result<void> predict_rows(Session& session, const PlanOptions& options, const Variants& variants, std::size_t rows, Found& found,
                          Plan& plan) {
  Errors refused;
  std::set<Likeness> known;
  std::vector<bool> seen(found.nearest.size(), false);
  const std::size_t together = std::max<std::size_t>(rows, 8);
  begin(options.progress, "rows", rows);
  while (plan.rows.size() < rows) {
    const std::vector<std::size_t> next = next_unlike(found.nearest, known, seen, together);
    if (next.empty()) break;
    std::vector<Result<PlanRow>> predicted(next.size());
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < next.size(); ++i) {
      PredictOptions asked = variants.options_of(found.nearest[next[i]]);
      predicted[i] = predict(session, asked).map([&](Prediction&& p) { return PlanRow{asked, std::move(p)}; });
    }
    for (std::size_t i = 0; i < next.size(); ++i) {
      const Candidate& candidate = found.nearest[next[i]];
      ++found.counts.predicted;
      if (!predicted[i]) {
        if (refused.empty()) refused = predicted[i].error();
      } else if (predicted[i]->prediction.memory.fits) {
        known.insert(likeness(candidate));
        plan.rows.push_back(std::move(*predicted[i]));
        if (plan.rows.size() <= rows) add_one(options.progress);
        plan.rows.back().variant = variants.of(candidate).text;
        plan.rows.back().folded = folded_beside(candidate, found.nearest);
      } else {
        ++found.counts.out_of_memory;
        if (candidate.dominated) --found.counts.dominated;
      }
    }
    if (options.stop != nullptr && options.stop->load() && !plan.rows.empty()) break;
  }
  if (plan.rows.empty() && !refused.empty()) return tl::make_unexpected(refused);
  if (!refused.empty()) plan.problems.push_back("layouts that predict refuses: " + refused.front().message);
  return {};
}

/// The best rows of one machine and number of GPUs.
Result<Plan> plan_job(Session& session, const PlanOptions& options, const PredictOptions& job, bool several,
                      const Found* joined) {
  Plan plan;
  const auto variants = Variants::make(session, job, options, plan.problems, plan.notices);
  if (!variants) return tl::make_unexpected(variants.error());
  const auto unknown = [&](const Candidate& candidate) { return candidate.variant >= variants->size(); };
  if (joined != nullptr &&
      (std::any_of(joined->nearest.begin(), joined->nearest.end(), unknown) || (joined->smallest && unknown(*joined->smallest))))
    return fail("--join: a part holds layouts of values that this plan does not try");
  const std::size_t rows = rows_of_job(options, several);
  const std::size_t kept = kept_layouts(options, several);
  Found found = joined != nullptr ? *joined : variants->search(options, kept);
  keep_fastest(found.nearest, kept, usable_capacity(variants->first().base.hardware().device));
  variants->mark_dominated(found);
  variants->refine(found, options);
  plan.interrupted = found.interrupted;
  if (auto predicted = predict_rows(session, options, *variants, rows, found, plan); !predicted)
    return tl::make_unexpected(predicted.error());
  plan.counts = found.counts;
  if (plan.rows.empty()) return tl::make_unexpected(nothing_found(*variants, found));
  rank(plan.rows, options);
  plan.rows.resize(std::min(plan.rows.size(), rows));
  if (const auto within = keep_limits(session, options, plan.rows); !within) return tl::make_unexpected(within.error());
  rank(plan.rows, options);
  return plan;
}

}  // namespace

double advantage(const Prediction& prediction, const Prediction& over, Objective objective) {
  const auto own = figure(prediction, objective), other = figure(over, objective);
  return own && other ? 1.0 - *own / *other : 0.0;
}

std::string predict_command(const PredictOptions& options) {
  std::string command = "tbdsim predict";
  const auto text = [&](const char* flag, const std::string& value) {
    if (value.empty()) return;
    const bool plain = value.find_first_of(" '\"$&|;<>()*?[]{}#~!`\\") == std::string::npos;
    command += fmt::format(" --{} {}", flag, plain ? value : "'" + value + "'");
  };
  const auto number = [&](const char* flag, const std::optional<int>& value) {
    if (value) command += fmt::format(" --{} {}", flag, *value);
  };
  text("hw", options.hardware);
  text("model", options.model);
  text("stack", options.stack);
  number("gpus", options.gpus);
  number("nodes", options.nodes);
  text("network", options.network);
  number("batch", options.batch);
  number("seq-len", options.seq_len);
  text("precision", options.precision);
  text("optimizer", options.optimizer);
  text("recompute", options.recompute);
  number("tensor-parallel", options.tensor_parallel);
  text("sequence-parallel", options.sequence_parallel);
  number("context-parallel", options.context_parallel);
  number("expert-parallel", options.expert_parallel);
  number("expert-tensor-parallel", options.expert_tensor_parallel);
  number("pipeline-parallel", options.pipeline_parallel);
  number("virtual-stages", options.virtual_stages);
  text("schedule", options.schedule);
  number("zero", options.zero);
  text("offload", options.offload);
  text("offload-share", options.offload_share);
  number("offload-layers", options.offload_layers);
  text("attention", options.attention);
  number("global-batch", options.global_batch);
  for (const std::string& assignment : options.set) text("set", assignment);
  return command;
}

Result<Plan> make_plan(Session& session, const PlanOptions& asked, const PlanPart* joined) {
  Plan all;
  auto jobs = plan_jobs(session, asked, all.notices);
  if (!jobs) return tl::make_unexpected(jobs.error());
  const PlanOptions& options = jobs->options;
  Errors errors;
  all.several = jobs->all.size() > 1;
  for (std::size_t i = 0; i < jobs->all.size(); ++i) {
    const PredictOptions& job = jobs->all[i];
    if (options.stop != nullptr && options.stop->load() && !all.rows.empty()) {
      all.interrupted = true;
      break;
    }
    auto one = plan_job(session, options, job, all.several, joined != nullptr ? &joined->jobs[i] : nullptr);
    if (!one) {
      if (!all.several) return one;
      all.problems.push_back(fmt::format("{} GPUs of {}: {}", job.gpus.value_or(0), job.hardware, one.error().front().message));
      errors.push_back({all.problems.back()});
      continue;
    }
    all.counts += one->counts;
    all.interrupted = all.interrupted || one->interrupted;
    all.problems.insert(all.problems.end(), one->problems.begin(), one->problems.end());
    all.notices.insert(all.notices.end(), one->notices.begin(), one->notices.end());
    std::move(one->rows.begin(), one->rows.end(), std::back_inserter(all.rows));
  }
  if (all.rows.empty()) return tl::make_unexpected(errors);
  rank(all.rows, options);
  if (all.rows.size() > static_cast<std::size_t>(options.top)) all.rows.resize(static_cast<std::size_t>(options.top));
  return all;
}

}  // namespace tbdsim::plan
