// Long because a plan is made, priced, ordered and explained from the same rows.
#include "model/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "model/plan/nothing_found.hpp"
#include "model/plan/part_file.hpp"
#include "model/plan/plan_costs.hpp"
#include "model/plan/plan_jobs.hpp"
#include "model/plan/variants.hpp"
#include "model/study/ownership.hpp"
#include "model/study/payment.hpp"
#include "model/study/speedup.hpp"

namespace tbdsim::plan {
namespace {

/// What the objective makes least; nothing: it is not known.
std::optional<double> figure(const Prediction& p, Objective objective) {
  if (objective == Objective::time) return 1.0 / p.throughput.value;
  if (objective == Objective::cost) {
    if (!p.cost.million_samples) return std::nullopt;
    return p.cost.million_samples->base();
  }
  const auto energy = node_energy(p);
  return energy ? std::optional(energy->base()) : std::nullopt;
}

/// What a row is ranked by.
std::optional<double> figure(const PlanRow& row, const PlanOptions& options) {
  if (options.by_run && row.run) return row.run->elapsed.value.base();
  return figure(row.prediction, options.objective);
}

/// Whether another row is no worse in time, cost and energy, and better in one. What is not known of one counts in neither, nor
/// does the cost of one that is bought beside one that is rented.
bool beats(const Prediction& a, const Prediction& b) {
  bool better = false;
  for (const Objective objective : {Objective::time, Objective::cost, Objective::energy}) {
    const auto own = figure(a, objective), other = figure(b, objective);
    if (!own || !other || (objective == Objective::cost && paid_by(a) != paid_by(b))) continue;
    if (*own > *other) return false;
    better = better || *own < *other;
  }
  return better;
}

/// Sets what a row gives up against the best, and whether both can be told apart.
void set_against(const PlanRow& best, const PlanOptions& options, PlanRow& row) {
  const auto least = figure(best, options), own = figure(row, options);
  row.behind = least && own ? *own / *least - 1.0 : 0.0;
  if (&row == &best) return;
  const Ranged<double> ratio =
      speedup_range(row.prediction, best.prediction, row.prediction.throughput.value / best.prediction.throughput.value);
  row.apart = ratio.low > 1.0 || ratio.high < 1.0;
}

void rank(std::vector<PlanRow>& rows, const PlanOptions& options) {
  const auto key = [&](const PlanRow& row) {
    return std::pair(figure(row, options).value_or(std::numeric_limits<double>::infinity()), fullest_peak(row.prediction.memory));
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const PlanRow& a, const PlanRow& b) { return key(a) < key(b); });
  if (rows.empty()) return;
  for (PlanRow& row : rows) {
    row.front = std::none_of(rows.begin(), rows.end(), [&](const PlanRow& o) { return beats(o.prediction, row.prediction); });
    set_against(rows.front(), options, row);
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
    if (options.terms) add_power(*run, row.prediction, *options.terms);
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

/// Predicts layouts in order until so many fit. Tells the smallest of those that do not. Errors: what `predict` says of the first
/// that it refuses, where none fits.
Result<std::optional<Misfit>> predict_rows(Session& session, const PlanOptions& options, const Variants& variants,
                                           std::size_t rows, Found& found, Plan& plan) {
  std::optional<Misfit> smallest;
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
      predicted[i] = predict(session, asked).map([&](Prediction&& p) {
        if (options.terms) put_on_terms(p, *options.terms);
        return PlanRow{asked, std::move(p)};
      });
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
        Misfit one = Misfit::of(predicted[i]->options, predicted[i]->prediction.memory);
        if (!smallest || one.smaller_than(*smallest)) smallest = std::move(one);
      }
    }
    if (options.stop != nullptr && options.stop->load() && !plan.rows.empty()) break;
  }
  if (plan.rows.empty() && !refused.empty()) return tl::make_unexpected(refused);
  if (!refused.empty()) plan.problems.push_back("layouts that predict refuses: " + refused.front().message);
  return smallest;
}

/// The layout of `--layout-from`, set against the rows. Errors: as `predict`.
Result<PlanRow> your_row(Session& session, const PlanOptions& options, PredictOptions yours, const Plan& plan) {
  const PlanRow& best = plan.rows.front();
  if (yours.precision.empty()) yours.precision = best.options.precision;
  auto prediction = predict(session, yours);
  if (!prediction) return tl::make_unexpected(prediction.error());
  PlanRow row{std::move(yours), std::move(*prediction)};
  if (options.terms) put_on_terms(row.prediction, *options.terms);
  if (options.tokens) {
    auto run = estimate_run(session, row.options, row.prediction, *options.tokens);
    if (!run) return tl::make_unexpected(run.error());
    if (options.terms) add_power(*run, row.prediction, *options.terms);
    row.run = std::move(*run);
  }
  if (options.terms) power_into_hour(row.prediction, *options.terms);
  row.front =
      std::none_of(plan.rows.begin(), plan.rows.end(), [&](const PlanRow& o) { return beats(o.prediction, row.prediction); });
  set_against(best, options, row);
  return row;
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
  auto smallest = predict_rows(session, options, *variants, rows, found, plan);
  if (!smallest) return tl::make_unexpected(smallest.error());
  plan.counts = found.counts;
  if (plan.rows.empty()) return tl::make_unexpected(nothing_found(session, *variants, found, std::move(*smallest)));
  rank(plan.rows, options);
  plan.rows.resize(std::min(plan.rows.size(), rows));
  if (const auto within = keep_limits(session, options, plan.rows); !within) return tl::make_unexpected(within.error());
  if (options.terms)
    for (PlanRow& row : plan.rows) power_into_hour(row.prediction, *options.terms);
  rank(plan.rows, options);
  return plan;
}

/// Machines or numbers of GPUs without a plan, those of one reason together.
class Failures {
 public:
  void add(const PredictOptions& job, const std::string& why) {
    const auto same =
        std::find_if(all_.begin(), all_.end(), [&](const Failure& f) { return f.hardware == job.hardware && f.why == why; });
    Failure& failure = same == all_.end() ? all_.emplace_back(Failure{job.hardware, why, {}}) : *same;
    if (job.gpus) failure.gpus.push_back(*job.gpus);
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (const Failure& f : all_)
      texts.push_back(f.gpus.empty() ? fmt::format("{}: {}", f.hardware, f.why)
                                     : fmt::format("{} GPUs of {}: {}", fmt::join(f.gpus, ", "), f.hardware, f.why));
    return texts;
  }

 private:
  struct Failure {
    std::string hardware, why;
    std::vector<int> gpus;
  };
  std::vector<Failure> all_;
};

}  // namespace

double advantage(const Prediction& prediction, const Prediction& over, Objective objective) {
  const auto own = figure(prediction, objective), other = figure(over, objective);
  return own && other ? 1.0 - *own / *other : 0.0;
}

bool paid_unlike(const std::vector<PlanRow>& rows) {
  const auto is = [&](PaidBy by) {
    return std::any_of(rows.begin(), rows.end(), [&](const PlanRow& row) { return paid_by(row.prediction) == by; });
  };
  return is(PaidBy::purchase) && is(PaidBy::rent);
}

Result<Plan> make_plan(Session& session, const PlanOptions& asked, const PlanPart* joined) {
  Plan all;
  auto jobs = plan_jobs(session, asked, all.notices);
  if (!jobs) return tl::make_unexpected(jobs.error());
  const PlanOptions& options = jobs->options;
  all.terms = options.terms;
  Failures failures;
  all.several = jobs->all.size() > 1;
  for (std::size_t i = 0; i < jobs->all.size(); ++i) {
    const PredictOptions& job = jobs->all[i];
    if (options.stop != nullptr && options.stop->load() && i > 0) {
      all.interrupted = true;
      failures.add(job, "not planned, since interrupted");
      continue;
    }
    auto one = plan_job(session, options, job, all.several, joined != nullptr ? &joined->jobs[i] : nullptr);
    if (!one) {
      if (!all.several) return one;
      failures.add(job, one.error().front().message);
      continue;
    }
    all.counts += one->counts;
    all.interrupted = all.interrupted || one->interrupted;
    all.problems.insert(all.problems.end(), one->problems.begin(), one->problems.end());
    all.notices.insert(all.notices.end(), one->notices.begin(), one->notices.end());
    std::move(one->rows.begin(), one->rows.end(), std::back_inserter(all.rows));
  }
  const std::vector<std::string> failed = failures.texts();
  if (all.rows.empty()) {
    Errors errors;
    for (const std::string& text : failed) errors.push_back({text});
    return tl::make_unexpected(errors);
  }
  all.problems.insert(all.problems.begin(), failed.begin(), failed.end());
  rank(all.rows, options);
  if (all.rows.size() > static_cast<std::size_t>(options.top)) all.rows.resize(static_cast<std::size_t>(options.top));
  if (jobs->yours) {
    auto yours = your_row(session, options, *jobs->yours, all);
    if (!yours) return tl::make_unexpected(yours.error());
    all.yours = std::move(*yours);
  }
  return all;
}

}  // namespace tbdsim::plan
