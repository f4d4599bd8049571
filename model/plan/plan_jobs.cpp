#include "model/plan/plan_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/configuration/configure.hpp"
#include "model/configuration/option_table.hpp"
#include "model/configuration/read_option.hpp"
#include "model/configuration/session.hpp"
#include "model/plan/given_layout.hpp"
#include "model/plan/job_axes.hpp"
#include "model/plan/variants.hpp"
#include "model/schedule/pipeline/schedule_kind.hpp"
#include "model/study/grid_names.hpp"
#include "model/support/drop_repeated.hpp"
#include "model/support/enum_table.hpp"
#include "model/support/find_named.hpp"

namespace tbdsim::plan {
namespace {

/// Layouts that `predict` looks at for each row asked for, since some that seem to fit do not.
constexpr std::size_t kSpare = 40;
/// Layouts that are kept however few rows are asked for.
constexpr std::size_t kFewestKept = 600;

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
  if (equals == assignment.size() || row == nullptr || !is_axis(row->name))
    return fmt::format("--keep {}: expected an axis and its value, such as pipeline-parallel=8; axes are {}", assignment,
                       fmt::join(axis_names(), ", "));
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
  if (is_axis(row->name))
    return fmt::format("{}: plan searches that axis itself; to have one value of it: --keep {}=VALUE", assignment, row->name);
  if (row->name == "accumulate" || row->name == "global-batch")
    return fmt::format("{}: plan sets micro-batches itself, by --global-batch", assignment);
  return "";
}

/// A schedule that is kept must have a name.
Errors check_schedule(const std::string& schedule) {
  if (schedule.empty() || pipeline::parse_schedule(schedule)) return {};
  if (schedule.ends_with(".toml"))
    return {{fmt::format("--schedule {}: a schedule of one's own has one number of stages; predict takes it", schedule)}};
  return unknown_name("schedule", schedule, row_names(pipeline::schedules())).value();
}

/// Reckons the cooling of bought machines as runs do. A job whose changes cannot be read is told where it is planned.
void take_cooling(Session& session, PredictOptions job, bool run, CostTerms& terms) {
  job = without_axes(std::move(job));
  job.run = true;
  if (!run) job.set.clear();
  auto operations = configured_operations(session, job);
  if (!operations) operations = *session.operations();
  if (operations) terms.cooling = operations->energy.pue;
}

/// Names that no entry of the catalogue and no file has, of options with several: known before the search, which takes seconds.
Errors unknown_of_several(Session& session, const PlanOptions& options) {
  StudyGrid grid{options.tried, {}};
  if (options.hardware.size() > 1) grid.axes.push_back({"hw", options.hardware});
  return unknown_names(session, grid);
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

}  // namespace

Result<PlanJobs> plan_jobs(Session& session, const PlanOptions& asked, std::vector<std::string>& notices) {
  PlanOptions options = without_repeated(asked, notices);
  std::optional<PredictOptions> yours;
  if (!options.job.layout_from.empty()) {
    auto given = given_layout(session, options);
    if (!given) return tl::make_unexpected(given.error());
    options.job = std::move(given->job);
    if (options.job.gpus) options.gpus = {*options.job.gpus};
    yours = std::move(given->yours);
    notices.insert(notices.end(), given->notices.begin(), given->notices.end());
  }
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
  for (const Errors& more :
       {check_schedule(kept.schedule), check_limits(limits, std::nullopt), unknown_of_several(session, options)})
    errors.insert(errors.end(), more.begin(), more.end());
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
  if (options.terms) take_cooling(session, jobs.front(), options.tokens.has_value(), *options.terms);
  return PlanJobs{std::move(options), std::move(jobs), std::move(yours)};
}

std::size_t rows_of_job(const PlanOptions& options, bool several) { return several ? 1 : static_cast<std::size_t>(options.top); }

std::size_t kept_layouts(const PlanOptions& options, bool several) {
  return std::max(kFewestKept, kSpare * rows_of_job(options, several));
}

std::string kept_text(const PredictOptions& job) {
  std::string text;
  for (const std::string_view axis : axis_names()) {
    const std::string value = told(*find_option(axis, kInColumn), job);
    if (!value.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis, value);
  }
  return text;
}

}  // namespace tbdsim::plan
