#include "model/study/ownership.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

namespace tbdsim {
namespace {

constexpr std::array kObjectives{std::pair{Objective::cost, std::string_view("cost")},
                                 std::pair{Objective::time, std::string_view("time")},
                                 std::pair{Objective::energy, std::string_view("energy")}};
constexpr Seconds kHour{3600.0}, kYear{8760.0 * 3600.0};

/// Time in which jobs run.
Seconds use(const CostTerms& terms) { return terms.years * terms.duty * kYear; }

/// Less is better; absent where it is not known.
std::optional<double> merit(const Prediction& prediction, const Offer& offer, Objective objective) {
  switch (objective) {
    case Objective::cost:
      return offer.cost.sample.base();
    case Objective::time:
      return 1.0 / prediction.throughput.value;
    case Objective::energy:
      break;
  }
  return offer.energy ? std::optional(offer.energy->base()) : std::nullopt;
}

}  // namespace

std::string_view name(Objective objective) {
  return std::find_if(kObjectives.begin(), kObjectives.end(), [&](const auto& row) { return row.first == objective; })->second;
}

std::optional<Objective> parse_objective(std::string_view text) {
  const auto row = std::find_if(kObjectives.begin(), kObjectives.end(), [&](const auto& r) { return r.second == text; });
  return row == kObjectives.end() ? std::nullopt : std::optional(row->first);
}

std::optional<Joules> node_energy(const Prediction& p) {
  if (!p.cost.gpu_power || p.throughput.value <= 0.0) return std::nullopt;
  return (*p.cost.gpu_power + p.cost.host_power.value_or(Watts(0.0))) * Seconds(1.0 / p.throughput.value);
}

std::optional<Joules> sample_energy(const Prediction& p, const CostTerms& terms) {
  const auto energy = node_energy(p);
  return energy ? std::optional(terms.building() * *energy) : std::nullopt;
}

std::optional<Ownership> ownership(const Prediction& p, const CostTerms& terms, PaidBy by) {
  const auto& payment = payment_of(p, by);
  if (!payment || p.throughput.value <= 0.0) return std::nullopt;
  Ownership cost{};
  if (by == PaidBy::rent) {
    cost.machines = payment->hour * (use(terms) / kHour);
  } else {
    cost.machines = payment->amount - payment->host;
    cost.host = payment->host;
    const auto energy = sample_energy(p, terms);
    if (terms.power_price && energy) cost.power = *energy * (p.throughput.value * use(terms).base()) * *terms.power_price;
  }
  cost.total = cost.machines + cost.host + cost.power;
  cost.sample = cost.total / (p.throughput.value * use(terms).base());
  cost.affordable = !terms.budget || cost.total <= *terms.budget;
  return cost;
}

std::vector<Offer> rank_offers(const Comparison& comparison, const CostTerms& terms) {
  std::vector<Offer> offers;
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    const Candidate& c = comparison.candidates[i];
    if (!c.problem.empty()) continue;
    for (const PaidBy by : {PaidBy::purchase, PaidBy::rent})
      if (auto cost = ownership(c.prediction, terms, by))
        offers.push_back({i, by, *cost, sample_energy(c.prediction, terms), {}});
  }
  const auto key = [&](const Offer& offer) {
    const Candidate& c = comparison.candidates[offer.candidate];
    const auto figure = merit(c.prediction, offer, terms.objective);
    const bool ranked = figure && offer.cost.affordable && c.prediction.memory.fits;
    return std::tuple(c.base, !ranked, figure.value_or(std::numeric_limits<double>::infinity()));
  };
  std::stable_sort(offers.begin(), offers.end(), [&](const Offer& a, const Offer& b) { return key(a) < key(b); });
  int rank = 0;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const auto [base, unranked, figure] = key(offers[i]);
    const bool first = i == 0 || std::get<0>(key(offers[i - 1])) != base;
    rank = first ? 1 : rank + 1;
    if (!unranked) offers[i].rank = rank;
  }
  return offers;
}

std::optional<BreakEven> break_even(const Comparison& comparison, const std::vector<Offer>& offers, const CostTerms& terms) {
  std::optional<std::size_t> bought, rented;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const Candidate& c = comparison.candidates[offers[i].candidate];
    if (c.base != comparison.candidates[offers.front().candidate].base) return std::nullopt;
    std::optional<std::size_t>& least = offers[i].by == PaidBy::purchase ? bought : rented;
    if (c.prediction.memory.fits && (!least || offers[i].cost.sample < offers[*least].cost.sample)) least = i;
  }
  if (!bought || !rented) return std::nullopt;
  const Ownership& own = offers[*bought].cost;
  const double samples = comparison.candidates[offers[*bought].candidate].prediction.throughput.value * use(terms).base();
  const Usd saved = samples * offers[*rented].cost.sample - own.power;  // over the years, for as many samples
  BreakEven result{*bought, *rented, {}};
  if (saved > Usd(0.0)) result.years = terms.years * ((own.machines + own.host) / saved);
  return result;
}

}  // namespace tbdsim
