#include "model/plan/found.hpp"

#include <algorithm>
#include <tuple>

namespace tbdsim::plan {
namespace {

/// What orders layouts that are equally fast and large: what is told first.
auto place_of(const Candidate& c) {
  const Layout& l = c.layout;
  return std::tuple(l.tensor, l.context, l.expert, l.expert_tensor, l.pipeline, l.virtual_stages, static_cast<int>(c.schedule),
                    c.batch, c.zero, static_cast<int>(c.recompute), c.variant);
}

}  // namespace

bool faster(const Candidate& a, const Candidate& b) {
  return std::tuple(a.time, a.memory, place_of(a)) < std::tuple(b.time, b.memory, place_of(b));
}

bool smaller(const Candidate& a, const Candidate& b) {
  return std::tuple(a.memory, place_of(a)) < std::tuple(b.memory, place_of(b));
}

void Found::add(Found other) {
  counts += other.counts;
  front.add(other.front);
  nearest.insert(nearest.end(), other.nearest.begin(), other.nearest.end());
  if (other.smallest && (!smallest || smaller(*other.smallest, *smallest))) smallest = other.smallest;
  if (!other.refusals.empty() && (refusals.empty() || other.refused_at < refused_at)) {
    refusals = std::move(other.refusals);
    refused_at = other.refused_at;
  }
  interrupted = interrupted || other.interrupted;
}

bool keep_fastest(std::vector<Candidate>& all, std::size_t most, Bytes capacity) {
  constexpr double kSurelyFits = 0.8;
  std::sort(all.begin(), all.end(), faster);
  std::size_t kept = 0, sure = 0;
  for (const Candidate& candidate : all) {
    const bool fits = candidate.memory <= kSurelyFits * capacity;
    if (kept >= most && (!fits || sure >= most / 4)) continue;
    sure += fits ? 1 : 0;
    all[kept++] = candidate;
  }
  all.resize(kept);
  return kept >= most && sure >= most / 4;
}

}  // namespace tbdsim::plan
