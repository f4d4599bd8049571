#include "model/study/compare_front.hpp"

#include <algorithm>
#include <map>

#include "model/study/pareto.hpp"

namespace tbdsim {
namespace {

struct Rivals {
  std::vector<Choice> choices;
  std::vector<std::size_t> candidates;
};

}  // namespace

std::vector<bool> compare_front(const Comparison& comparison, PaidBy by) {
  std::map<std::size_t, Rivals> groups;  // by base
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    const Candidate& c = comparison.candidates[i];
    const Prediction& p = c.prediction;
    if (!c.problem.empty() || !p.memory.fits || p.throughput.value <= 0.0) continue;
    const auto& payment = payment_of(p, by);
    if (by != PaidBy::nothing && !payment) continue;
    Bytes peak(0.0);
    for (const GpuMemory& gpu : p.memory.gpus) peak = std::max(peak, gpu.peak);
    Rivals& rivals = groups[c.base];
    rivals.choices.push_back(
        {Seconds(1.0 / p.throughput.value), payment ? std::optional(sample_cost(p, *payment)) : std::nullopt, peak});
    rivals.candidates.push_back(i);
  }
  std::vector<bool> front(comparison.candidates.size(), false);
  for (const auto& [group, rivals] : groups) {
    const std::vector<bool> kept = pareto_front(rivals.choices);
    for (std::size_t i = 0; i < kept.size(); ++i) front[rivals.candidates[i]] = kept[i];
  }
  return front;
}

std::vector<PaidBy> payments_of(const Comparison& comparison) {
  std::vector<PaidBy> known;
  for (const PaidBy by : {PaidBy::purchase, PaidBy::rent}) {
    if (std::any_of(comparison.candidates.begin(), comparison.candidates.end(),
                    [&](const Candidate& c) { return c.problem.empty() && payment_of(c.prediction, by); }))
      known.push_back(by);
  }
  if (known.empty()) known.push_back(PaidBy::nothing);
  return known;
}

std::vector<bool> compare_front(const Comparison& comparison) {
  std::vector<bool> front(comparison.candidates.size(), false);
  for (const PaidBy by : payments_of(comparison)) {
    const std::vector<bool> one = compare_front(comparison, by);
    for (std::size_t i = 0; i < one.size(); ++i) front[i] = front[i] || one[i];
  }
  return front;
}

}  // namespace tbdsim
