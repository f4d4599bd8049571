#include "model/study/market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/configuration/session.hpp"
#include "model/hardware/lookup.hpp"

namespace tbdsim {
namespace {

bool fits(const Candidate& candidate) { return candidate.problem.empty() && candidate.prediction.memory.fits; }

/// Whether a machine that is sold or let as a whole stands idle in part.
bool partly_used(Session& session, const Candidate& candidate) {
  const auto system = session.system(candidate.prediction.job.hardware, 1);
  return *system && candidate.prediction.job.gpus < (**system).gpu_count;
}

}  // namespace

std::vector<std::string> priced_hardware(Session& session) {
  std::vector<std::string> found;
  for (const std::string& id : catalogue_ids(session.catalogue(), kGpus.folder)) {
    const auto system = session.system(id, 1);
    if (*system && (**system).device.launch_price) found.push_back(id);
  }
  for (const std::string& id : catalogue_ids(session.catalogue(), kSystems.folder)) {
    const auto system = session.system(id, 1);
    if (*system && ((**system).price || (**system).rent || !(**system).rent_kind.empty())) found.push_back(id);
  }
  return found;
}

MarketChoice best_of(Session& session, std::vector<Candidate> candidates, const CostTerms& terms, std::size_t most) {
  std::vector<std::size_t> places;
  MarketChoice choice;
  Comparison all;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].problem.empty() || partly_used(session, candidates[i])) continue;
    places.push_back(i);
    choice.too_large += fits(candidates[i]) ? 0 : 1;
    all.candidates.push_back(std::move(candidates[i]));
    Candidate& added = all.candidates.back();
    added.base = static_cast<std::size_t>(
        std::find_if(all.candidates.begin(), all.candidates.end(),
                     [&](const Candidate& other) { return comparable(other.prediction, added.prediction); }) -
        all.candidates.begin());
  }
  choice.tried = places.size();
  std::set<std::size_t> chosen;
  std::map<std::size_t, std::size_t> kept;
  for (const Offer& offer : rank_offers(all, terms)) {
    if (!offer.rank || !chosen.insert(offer.candidate).second) continue;
    ++choice.affordable;
    const Candidate& candidate = all.candidates[offer.candidate];
    if (++kept[candidate.base] > most) continue;
    choice.kept.push_back(places[offer.candidate]);
    choice.comparison.candidates.push_back(candidate);
  }
  for (std::size_t i = 0; i < all.candidates.size(); ++i)
    if (all.candidates[i].base == i && kept.count(i) == 0) choice.left_out.push_back(all.candidates[i].prediction.job.model);
  if (!choice.kept.empty()) hold_against_base(choice.comparison);
  return choice;
}

std::string what_would_fit(Session& session, const StudyGrid& grid, const std::vector<Candidate>& candidates) {
  if (candidates.empty() || std::any_of(candidates.begin(), candidates.end(), fits)) return "";
  std::vector<std::optional<Prediction>> divided(candidates.size());
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].problem.empty() || candidates[i].prediction.job.gpus < 2) continue;
    auto job = options_of(grid.at(i), grid.set);
    if (!job || job->zero || !job->recompute.empty()) continue;
    job->zero = 3;
    job->recompute = "layer";
    if (auto prediction = predict(session, *job)) divided[i] = std::move(*prediction);
  }
  std::string first;
  std::size_t count = 0;
  for (std::size_t i = 0; i < divided.size(); ++i) {
    if (!divided[i] || !divided[i]->memory.fits) continue;
    if (count++ == 0)
      first = fmt::format("{} GPU{} of {}", divided[i]->job.gpus, divided[i]->job.gpus == 1 ? "" : "s", divided[i]->job.hardware);
  }
  if (count == 0) return "";
  return fmt::format("the job fits on none of them as asked; with --zero 3 --recompute layer it fits on {} of {}, such as {}",
                     count, candidates.size(), first);
}

}  // namespace tbdsim
