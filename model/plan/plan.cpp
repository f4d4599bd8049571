#include "model/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "model/configuration/choose_layout.hpp"
#include "model/configuration/read_option.hpp"
#include "model/plan/variants.hpp"
#include "model/study/speedup.hpp"
#include "model/support/drop_repeated.hpp"
#include "model/support/enum_table.hpp"
#include "model/support/find_named.hpp"
#include "model/units/format.hpp"

namespace tbdsim::plan {
namespace {

/// Layouts that `predict` looks at for each row asked for, since some that seem to fit do not.
constexpr std::size_t kSpare = 40;

constexpr std::string_view kAxes[] = {"tensor-parallel",
                                      "sequence-parallel",
                                      "context-parallel",
                                      "expert-parallel",
                                      "expert-tensor-parallel",
                                      "pipeline-parallel",
                                      "virtual-stages",
                                      "schedule",
                                      "zero",
                                      "recompute",
                                      "batch"};

/// What a member of a job's options says; empty: nothing.
std::string told(const OptionRow& row, const PredictOptions& job) {
  if (const auto* const number = std::get_if<std::optional<int> PredictOptions::*>(&row.landing))
    return job.**number ? std::to_string(*(job.**number)) : "";
  const auto* const word = std::get_if<std::string PredictOptions::*>(&row.landing);
  return word != nullptr ? job.**word : "";
}

/// Takes "pipeline-parallel=8" into the options of a job. Returns what is wrong with it; empty: nothing.
std::string keep_axis(const std::string& assignment, PredictOptions& job) {
  const std::size_t equals = std::min(assignment.find('='), assignment.size());
  const std::string_view name = std::string_view(assignment).substr(0, equals);
  const OptionRow* const row = find_option(name, kInColumn);
  if (equals == assignment.size() || row == nullptr ||
      std::find(std::begin(kAxes), std::end(kAxes), row->name) == std::end(kAxes))
    return fmt::format("--keep {}: expected an axis and its value, such as pipeline-parallel=8; axes are {}", assignment,
                       fmt::join(kAxes, ", "));
  const std::string value = assignment.substr(equals + 1), before = told(*row, job);
  if (!before.empty() && before != value)
    return fmt::format("--keep {}: {} is kept at {} already", assignment, row->name, before);
  const std::string expected = read_option(*row, value, job, Range::checked);
  if (expected.empty()) return "";
  return fmt::format("--keep {}: expected {}, got \"{}\"", assignment, expected, value);
}

/// What is wrong with a change of an option that the search itself sets; empty: nothing.
std::string check_change(const std::string& assignment) {
  std::string_view key = std::string_view(assignment).substr(0, std::min(assignment.find_first_of("?="), assignment.size()));
  if (key.starts_with("parallel.")) key.remove_prefix(std::string_view("parallel.").size());
  const OptionRow* const row = find_key(key, kInSet);
  if (row == nullptr) return "";
  if (std::find(std::begin(kAxes), std::end(kAxes), row->name) != std::end(kAxes))
    return fmt::format("{}: plan searches that axis itself; to have one value of it: --keep {}=VALUE", assignment, row->name);
  if (row->name == "accumulate" || row->name == "global-batch")
    return fmt::format("{}: plan sets micro-batches itself, by --global-batch", assignment);
  return "";
}

/// What the objective makes least; nothing: it is not known.
std::optional<double> figure(const Prediction& p, Objective objective) {
  if (objective == Objective::time) return 1.0 / p.throughput.value;
  if (objective == Objective::cost) {
    if (!p.million_samples_cost) return std::nullopt;
    return p.million_samples_cost->base();
  }
  if (!p.sample_energy) return std::nullopt;
  return p.sample_energy->base();
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
  const auto node_hour = first.hour_cost ? std::optional((1.0 / first.nodes) * *first.hour_cost) : std::nullopt;
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

/// What is kept, in words: "tensor-parallel 16, pipeline-parallel 64"; empty: nothing.
std::string kept_text(const PredictOptions& job) {
  std::string text;
  for (const std::string_view axis : kAxes) {
    const std::string value = told(*find_option(axis, kInColumn), job);
    if (!value.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis, value);
  }
  return text;
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

/// A schedule that is kept must have a name.
Errors check_schedule(const std::string& schedule) {
  if (schedule.empty() || pipeline::parse_schedule(schedule)) return {};
  if (schedule.ends_with(".toml"))
    return {{fmt::format("--schedule {}: a schedule of one's own has one number of stages; predict takes it", schedule)}};
  return unknown_name("schedule", schedule, row_names(pipeline::schedules())).value();
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

/// What is named twice is planned once.
PlanOptions without_repeated(PlanOptions options, std::vector<std::string>& notices) {
  const auto once = [&](std::string_view option, auto& values) {
    for (const auto& value : drop_repeated(values))
      notices.push_back(fmt::format("--{}: {} is named more than once, and planned once", option, value));
  };
  once("hw", options.hardware);
  once("gpus", options.gpus);
  for (GridAxis& axis : options.tried) once(axis.option, axis.values);
  return options;
}

/// The best rows of one machine and number of GPUs.
Result<Plan> plan_job(Session& session, const PlanOptions& options, const PredictOptions& job, bool several) {
  Plan plan;
  const auto variants = Variants::make(session, job, options, plan.problems, plan.notices);
  if (!variants) return tl::make_unexpected(variants.error());
  const std::size_t rows = several ? 1 : static_cast<std::size_t>(options.top);
  Found found = variants->run(options, std::max<std::size_t>(600, kSpare * rows));
  variants->refine(found, options);
  plan.interrupted = found.interrupted;
  if (auto predicted = predict_rows(session, options, *variants, rows, found, plan); !predicted)
    return tl::make_unexpected(predicted.error());
  plan.counts = found.counts;
  if (plan.rows.empty()) return tl::make_unexpected(nothing_found(*variants, found));
  rank(plan.rows, options);
  plan.rows.resize(std::min(plan.rows.size(), rows));
  if (const auto kept = keep_limits(session, options, plan.rows); !kept) return tl::make_unexpected(kept.error());
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
  text("attention", options.attention);
  number("global-batch", options.global_batch);
  for (const std::string& assignment : options.set) text("set", assignment);
  return command;
}

Result<Plan> make_plan(Session& session, const PlanOptions& asked) {
  Plan all;
  const PlanOptions options = without_repeated(asked, all.notices);
  if (!options.job.global_batch)
    return fail("plan: --global-batch missing: the samples of one update over all GPUs, such as --global-batch 1024");
  if (*options.job.global_batch < 1)
    return fail(fmt::format("--global-batch {}: expected at least 1 sample", *options.job.global_batch));
  PredictOptions kept = options.job;
  Errors errors;
  for (const std::string& assignment : options.keep)
    if (std::string problem = keep_axis(assignment, kept); !problem.empty()) errors.push_back({std::move(problem)});
  for (const std::string& assignment : options.job.set)
    if (std::string problem = check_change(assignment); !problem.empty()) errors.push_back({std::move(problem)});
  kept.run = options.tokens.has_value();
  const RunLimits& limits = options.limits;
  if (!options.tokens && (limits.deadline || limits.budget || limits.power || options.by_run))
    errors.push_back({"plan: deadline, budget, power limit and goodput are of a run: add --tokens, such as --tokens 15T"});
  const Errors unknown = check_schedule(kept.schedule);
  errors.insert(errors.end(), unknown.begin(), unknown.end());
  if (!errors.empty()) return tl::make_unexpected(errors);
  // Known before the search, which takes seconds.
  if (const auto prices = session.prices(); !*prices) return tl::make_unexpected(prices->error());
  std::vector<PredictOptions> jobs;
  for (const std::string& hardware :
       options.hardware.empty() ? std::vector<std::string>{options.job.hardware} : options.hardware) {
    PredictOptions job = kept;
    job.hardware = hardware;
    if (options.gpus.empty()) jobs.push_back(job);
    for (const int gpus : options.gpus) {
      job.gpus = gpus;
      jobs.push_back(job);
    }
  }
  all.several = jobs.size() > 1;
  for (const PredictOptions& job : jobs) {
    if (options.stop != nullptr && options.stop->load() && !all.rows.empty()) {
      all.interrupted = true;
      break;
    }
    auto one = plan_job(session, options, job, all.several);
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
