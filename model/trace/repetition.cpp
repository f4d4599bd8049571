#include "model/trace/repetition.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace tbdsim::trace {
namespace {

using Sequence = std::span<const std::int32_t>;

/// Of the whole that must be alike, and of a typical part that another must hold: one iteration in ten may evaluate or save.
constexpr double kShare = 0.9;
constexpr std::size_t kLeastParts = 3;
/// Elements in which anchors are looked for: ten iterations of 20,000 kernels, which is more than large models launch.
constexpr std::size_t kMostSearched = 200'000;

/// Occurrences of each number of a sequence of numbers from 0.
class Occurrences {
 public:
  explicit Occurrences(Sequence ids)
      : begins_(ids.empty() ? 1 : static_cast<std::size_t>(*std::max_element(ids.begin(), ids.end())) + 2), places_(ids.size()) {
    for (const std::int32_t id : ids) ++begins_[static_cast<std::size_t>(id) + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
    for (std::size_t i = 0; i < ids.size(); ++i) places_[next[static_cast<std::size_t>(ids[i])]++] = i;
  }
  std::size_t ids() const { return begins_.size() - 1; }
  std::span<const std::size_t> of(std::size_t id) const { return {places_.data() + begins_[id], begins_[id + 1] - begins_[id]}; }

 private:
  std::vector<std::size_t> begins_, places_;
};

/// A number for each different pair of elements that stand `apart`: what was n elements in a row becomes n + apart.
std::vector<std::int32_t> joined(Sequence ids, std::size_t apart) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> known;
  std::vector<std::int32_t> result;
  for (std::size_t i = 0; i + apart < ids.size(); ++i) {
    const auto next = static_cast<std::int32_t>(known.size());
    result.push_back(known.try_emplace({ids[i], ids[i + apart]}, next).first->second);
  }
  return result;
}

/// What a typical part holds, to compare others with.
class Typical {
 public:
  Typical() = default;
  Typical(Sequence part, std::int32_t largest) : length_(part.size()), count_(static_cast<std::size_t>(largest) + 1) {
    for (const std::int32_t e : part) ++count_[static_cast<std::size_t>(e)];
    seen_.resize(count_.size());
  }
  std::size_t length() const { return length_; }
  /// Whether a part of this length may be alike: a log adds an element or a few.
  bool fits(std::size_t length) const {
    return static_cast<double>(length) >= kShare * static_cast<double>(length_) &&
           length <= length_ + std::min(length_ / 2, length_ / 5 + 4);
  }
  bool like(Sequence part) {
    if (!fits(part.size())) return false;
    std::size_t common = 0;
    for (const std::int32_t e : part)
      common += seen_[static_cast<std::size_t>(e)]++ < count_[static_cast<std::size_t>(e)] ? 1 : 0;
    for (const std::int32_t e : part) seen_[static_cast<std::size_t>(e)] = 0;
    return static_cast<double>(common) >= kShare * static_cast<double>(length_);
  }

 private:
  std::size_t length_ = 0;
  std::vector<std::size_t> count_, seen_;
};

/// A possible anchor: `size` elements from each of `places`.
struct Candidate {
  std::size_t length = 0;  ///< of a typical part
  std::size_t size = 0;
  std::span<const std::size_t> places;
};

/// The last part of the most frequent length.
std::size_t typical_part(std::span<const std::size_t> places) {
  std::map<std::size_t, std::size_t> lengths;
  for (std::size_t i = 0; i + 1 < places.size(); ++i) ++lengths[places[i + 1] - places[i]];
  const auto mode =
      std::max_element(lengths.begin(), lengths.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
  std::size_t part = places.size() - 2;
  while (places[part + 1] - places[part] != mode) --part;
  return part;
}

/// The searched half of a sequence.
struct Half {
  Sequence ids;
  std::vector<double> weight;  ///< of all elements before each
  std::int32_t largest = 0;

  Sequence part(std::span<const std::size_t> places, std::size_t i) const {
    return ids.subspan(places[i], places[i + 1] - places[i]);
  }
  /// Share of the elements between the first anchor and the last that parts like the typical one hold; 0 where they hold too
  /// few of all elements or of their weight. The half begins and ends within a part.
  double covered(const Candidate& candidate) const {
    const auto places = candidate.places;
    const std::size_t typical_at = typical_part(places);
    Typical typical(part(places, typical_at), largest);
    const auto between = [&](std::size_t from, std::size_t to) { return weight[to] - weight[from]; };
    const double length = static_cast<double>(typical.length());
    const double cut = between(places[typical_at], places[typical_at + 1]);
    const double needed = kShare * (static_cast<double>(ids.size()) - 2.0 * length), whole = between(0, ids.size());
    std::size_t parts = 0, elements = 0, possible = 0;
    double heavy = 0.0;
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {
      const std::size_t n = places[i + 1] - places[i];
      possible += typical.fits(n) ? n : 0;
    }
    if (static_cast<double>(possible) < needed) return 0.0;
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {
      if (!typical.like(part(places, i))) continue;
      ++parts;
      elements += places[i + 1] - places[i];
      heavy += between(places[i], places[i + 1]);
    }
    const bool enough = parts >= kLeastParts && static_cast<double>(elements) >= needed && heavy >= kShare * (whole - 2.0 * cut);
    return enough ? static_cast<double>(elements) / static_cast<double>(places.back() - places.front()) : 0.0;
  }
};

/// Anchors that may be, those of the shortest parts first.
std::vector<Candidate> candidates(const std::vector<std::pair<std::size_t, Occurrences>>& rows, double shortest) {
  std::vector<Candidate> result;
  for (const auto& [size, occurrences] : rows) {
    for (std::size_t id = 0; id < occurrences.ids(); ++id) {
      const auto places = occurrences.of(id);
      if (places.size() <= kLeastParts) continue;
      const std::size_t at = typical_part(places), length = places[at + 1] - places[at];
      if (static_cast<double>(length) >= shortest) result.push_back({length, size, places});
    }
  }
  std::sort(result.begin(), result.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.length, a.size, a.places.front()) < std::tuple(b.length, b.size, b.places.front());
  });
  return result;
}

/// The best of the shortest; empty places: none.
Candidate choose(const Half& half, const std::vector<Candidate>& all) {
  constexpr std::size_t kMostAlike = 8;  // of those of one size and length
  Candidate best;
  double most = 0.0;
  std::size_t tried = 0, first = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool same = i > 0 && all[i].size == all[i - 1].size && all[i].length == all[i - 1].length;
    tried = same ? tried + 1 : 0;
    if (tried >= kMostAlike) continue;
    if (first > 0 && 4 * all[i].length > 5 * first) break;  // parts a quarter longer are another repetition
    const double covered = half.covered(all[i]);
    if (covered > 0.0 && first == 0) first = all[i].length;
    if (covered > most) std::tie(best, most) = std::pair(all[i], covered);
  }
  return best;
}

}  // namespace

Repetition find_repetition(Sequence sequence, std::span<const double> weights, double shortest) {
  Repetition result;
  Half half;
  half.ids = sequence.subspan(std::max(sequence.size() / 2, sequence.size() - std::min(sequence.size(), kMostSearched)));
  if (half.ids.size() <= kLeastParts) return result;
  half.largest = *std::max_element(sequence.begin(), sequence.end());
  half.weight.push_back(0.0);
  for (const double w : weights.last(half.ids.size())) half.weight.push_back(half.weight.back() + w);

  const std::vector<std::int32_t> pairs = joined(half.ids, 1), fours = joined(pairs, 2);
  std::vector<std::pair<std::size_t, Occurrences>> rows;
  rows.emplace_back(1, Occurrences(half.ids));
  rows.emplace_back(2, Occurrences(pairs));
  rows.emplace_back(4, Occurrences(fours));
  const Candidate best = choose(half, candidates(rows, shortest));
  if (best.places.empty()) return result;

  Typical typical(half.part(best.places, typical_part(best.places)), half.largest);
  result.length = typical.length();
  const Sequence anchor = half.ids.subspan(best.places.front(), best.size);
  for (std::size_t i = 0; i + best.size <= sequence.size(); ++i) {
    if (std::equal(anchor.begin(), anchor.end(), sequence.begin() + static_cast<std::ptrdiff_t>(i))) result.anchors.push_back(i);
  }
  for (std::size_t i = 0; i + 1 < result.anchors.size(); ++i)
    result.alike.push_back(typical.like(sequence.subspan(result.anchors[i], result.length_of(i))));
  return result;
}

}  // namespace tbdsim::trace
