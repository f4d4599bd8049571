#include "model/study/compare.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/configuration/session.hpp"
#include "model/study/speedup.hpp"
#include "model/support/first_reason.hpp"

namespace tbdsim {
namespace {

Candidate candidate(Session& session, const StudyGrid& grid, std::size_t point) {
  Candidate found;
  const auto options = grid.at(point);
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (grid.axes[i].values.size() < 2) continue;
    found.varied.push_back(options[i]);
    found.label += fmt::format("{}{}", found.label.empty() ? "" : " ", options[i].second);
  }
  const auto job = options_of(options, grid.set);
  auto prediction = job ? predict(session, *job) : Result<Prediction>(tl::make_unexpected(job.error()));
  if (prediction)
    found.prediction = std::move(*prediction);
  else
    found.problem = first_reason(prediction.error());
  return found;
}

/// Options in which two candidates differ, `--model` left out.
std::size_t differences(const Candidate& a, const Candidate& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.varied.size(); ++i) {
    if (a.varied[i].first != "model" && a.varied[i] != b.varied[i]) ++count;
  }
  return count;
}

std::size_t base_of(const Comparison& comparison, const Candidate& candidate) {
  const auto& all = comparison.candidates;
  const Candidate& reference = all[comparison.base];
  if (comparable(candidate.prediction, reference.prediction)) return comparison.base;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].problem.empty() || !comparable(all[i].prediction, candidate.prediction)) continue;
    if (differences(all[i], reference) == 0) return i;
    if (!first) first = i;
  }
  return *first;  // itself, if no other
}

std::optional<double> price_ratio(const Prediction& prediction, const Prediction& base, PaidBy by) {
  const auto &mine = payment_of(prediction, by), &theirs = payment_of(base, by);
  if (!mine || !theirs || theirs->amount <= Usd(0.0)) return std::nullopt;
  return mine->amount / theirs->amount;
}

}  // namespace

Result<std::vector<Candidate>> candidates_of(Session& session, const StudyGrid& grid, Progress* progress) {
  constexpr std::size_t kMostCandidates = 10'000;
  const std::size_t points = grid.points();
  if (points > kMostCandidates)
    return fail(fmt::format("{} candidates: compare takes at most {}, sweep any number", points, kMostCandidates));
  std::vector<Candidate> candidates(points);
  begin(progress, "candidates", points);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < points; ++i) {
    candidates[i] = candidate(session, grid, i);
    add_one(progress);
  }
  return candidates;
}

bool comparable(const Prediction& a, const Prediction& b) {
  const bool files = !a.files.workload.sha256.empty() && !b.files.workload.sha256.empty();
  return a.samples.unit == b.samples.unit &&
         (files || (a.job.model == b.job.model && a.files.workload.sha256 == b.files.workload.sha256));
}

void hold_against_base(Comparison& comparison) {
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    Candidate& other = comparison.candidates[i];
    if (!other.problem.empty()) continue;
    other.base = base_of(comparison, other);
    const Prediction& against = comparison.candidates[other.base].prediction;
    const double ratio = other.prediction.throughput.value / against.throughput.value;
    other.speedup = i == other.base ? Ranged<double>{1.0, 1.0, 1.0} : speedup_range(other.prediction, against, ratio);
    other.bought_ratio = price_ratio(other.prediction, against, PaidBy::purchase);
    other.rented_ratio = price_ratio(other.prediction, against, PaidBy::rent);
    other.apart = i == other.base || other.speedup.low > 1.0 || other.speedup.high < 1.0;
  }
}

Result<Comparison> compare(Session& session, const StudyGrid& grid, std::size_t base, Progress* progress) {
  if (base >= grid.points()) return fail(fmt::format("--base {}: there are {} candidates", base + 1, grid.points()));
  auto candidates = candidates_of(session, grid, progress);
  if (!candidates) return tl::make_unexpected(candidates.error());
  Comparison comparison{std::move(*candidates), base};
  if (const Candidate& reference = comparison.candidates[base]; !reference.problem.empty()) return fail(reference.problem);
  hold_against_base(comparison);
  return comparison;
}

}  // namespace tbdsim
