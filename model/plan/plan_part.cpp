#include "model/plan/plan_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/configuration/session.hpp"
#include "model/input/digest.hpp"
#include "model/plan/plan.hpp"
#include "model/plan/plan_jobs.hpp"
#include "model/plan/predict_command.hpp"
#include "model/plan/variants.hpp"
#include "model/study/sweep.hpp"

namespace tbdsim::plan {
namespace {

/// What tells one search from another: its jobs, what is tried of each, how much is kept, and all that predictions read.
Result<std::string> question_of(Session& session, const PlanJobs& jobs) {
  const PlanOptions& options = jobs.options;
  StudyGrid grid{options.tried, options.job.set};
  grid.set.insert(grid.set.end(), options.values.begin(), options.values.end());
  std::string text = fmt::format("{}\n", kept_layouts(options, jobs.all.size() > 1));
  for (const PredictOptions& job : jobs.all) {
    text += predict_command(job) + '\n';
    grid.axes.push_back({"hw", {job.hardware}});
    grid.axes.push_back({"model", {job.model}});
    grid.axes.push_back({"stack", {job.stack}});
    grid.axes.push_back({"network", {job.network}});
  }
  for (const GridAxis& axis : options.tried) text += fmt::format("{} {}\n", axis.option, fmt::join(axis.values, ","));
  text += fmt::format("{}", fmt::join(options.values, "\n"));
  return sweep_origin(session.catalogue(), grid).map([&](const SweepOrigin& origin) { return sha256_hex(origin.digest + text); });
}

/// What is wrong with the choice of parts; empty: nothing.
Errors check_parts(const std::vector<PlanPart>& parts, const std::vector<std::string>& files, const std::string& question) {
  Errors errors;
  std::map<std::size_t, std::string> named;  // a file may claim to be one of very many
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].question != question)
      errors.push_back(
          {fmt::format("{}: part of another search (other options, catalogue or version); run it again with "
                       "--shard {}/{}",
                       files[i], parts[i].shard + 1, parts[i].shards)});
    else if (parts[i].shards != parts.front().shards)
      errors.push_back(
          {fmt::format("{}: part of {}, and {} is one of {}", files[i], parts[i].shards, files[0], parts.front().shards)});
    else if (std::string& other = named[parts[i].shard]; !other.empty())
      errors.push_back({other == files[i] ? fmt::format("--join: {} is named twice", other)
                                          : fmt::format("--join: {} and {} are the same part, {} of {}", other, files[i],
                                                        parts[i].shard + 1, parts[i].shards)});
    else
      other = files[i];
  }
  const std::size_t shards = parts.front().shards, missing = shards - std::min(named.size(), shards);
  constexpr std::size_t kTold = 10;
  std::vector<std::size_t> told;
  for (std::size_t i = 0; i < shards && told.size() < std::min(missing, kTold); ++i)
    if (named.count(i) == 0) told.push_back(i + 1);
  if (errors.empty() && missing > 0)
    errors.push_back({fmt::format("--join: of {} parts {} missing: {}{}", shards, missing == 1 ? "one is" : "some are",
                                  fmt::join(told, ", "), told.size() < missing ? ", ..." : "")});
  return errors;
}

}  // namespace

Result<PlanPart> search_part(Session& session, const PlanOptions& asked) {
  std::vector<std::string> notices;
  const auto jobs = plan_jobs(session, asked, notices);
  if (!jobs) return tl::make_unexpected(jobs.error());
  const auto question = question_of(session, *jobs);
  if (!question) return tl::make_unexpected(question.error());
  PlanPart part{*question, asked.shard, asked.shards, std::vector<Found>(jobs->all.size())};
  const bool several = jobs->all.size() > 1;
  for (std::size_t i = 0; i < jobs->all.size(); ++i) {
    std::vector<std::string> problems;
    const auto variants = Variants::make(session, jobs->all[i], jobs->options, problems, notices);
    if (!variants && !several) return tl::make_unexpected(variants.error());
    if (variants) part.jobs[i] = variants->search(jobs->options, kept_layouts(jobs->options, several));
  }
  return part;
}

Result<PlanPart> join_parts(Session& session, const PlanOptions& asked, const std::vector<std::string>& files) {
  std::vector<std::string> notices;
  const auto jobs = plan_jobs(session, asked, notices);
  if (!jobs) return tl::make_unexpected(jobs.error());
  const auto question = question_of(session, *jobs);
  if (!question) return tl::make_unexpected(question.error());
  std::vector<PlanPart> parts;
  Errors errors;
  for (const std::string& file : files) {
    auto part = read_part(file, jobs->all.size());
    if (part)
      parts.push_back(std::move(*part));
    else
      errors.insert(errors.end(), part.error().begin(), part.error().end());
  }
  if (errors.empty()) errors = check_parts(parts, files, *question);
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  PlanPart all{*question, 0, 1, std::vector<Found>(jobs->all.size())};
  for (std::size_t i = 0; i < all.jobs.size(); ++i)
    for (PlanPart& part : parts) all.jobs[i].add(std::move(part.jobs[i]));
  return all;
}

}  // namespace tbdsim::plan
