#include "model/hardware/ring_search.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace tbdsim {
namespace {

/// Cycles of a set are found in ascending order, so no set is visited twice.
class RingSearch {
 public:
  RingSearch(LinkMatrix links, bool relay) : free_(std::move(links)), ranks_(static_cast<int>(free_.size())), relay_(relay) {
    int bound = std::numeric_limits<int>::max();
    for (int i = 0; i < ranks_; ++i) {
      int out = 0;
      for (int j = 0; j < ranks_; ++j) out += free_[index(i)][index(j)];
      bound = std::min(bound, out);
    }
    bound_ = bound;
  }

  std::vector<RankCycle> run() {
    next_ring();
    return best_;
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  void next_ring() {
    if (set_.size() > best_.size()) best_ = set_;
    if (done() || set_.size() + index(room()) <= best_.size()) return;
    current_ = RankCycle{{0}, {}};
    visited_.assign(index(ranks_), false);
    visited_[0] = true;
    relayed_ = false;
    step();
  }

  /// Rings that the links left could still hold: no rank can be left more often than it has links out, nor entered.
  [[nodiscard]] int room() const {
    int least = std::numeric_limits<int>::max();
    for (int i = 0; i < ranks_; ++i) {
      int out = 0, in = 0;
      for (int j = 0; j < ranks_; ++j) {
        out += free_[index(i)][index(j)];
        in += free_[index(j)][index(i)];
      }
      least = std::min({least, out, in});
    }
    return least;
  }

  [[nodiscard]] bool done() const { return static_cast<int>(best_.size()) >= bound_ || steps_ > kMostSteps; }

  void step() {
    if (done()) return;
    ++steps_;
    const int from = current_.order.back();
    const bool closing = static_cast<int>(current_.order.size()) == ranks_;
    for (int to = closing ? 0 : 1; to < (closing ? 1 : ranks_); ++to) {
      if (!closing && visited_[index(to)]) continue;
      if (free_[index(from)][index(to)] > 0) {
        take(from, to, from, closing);
      } else if (relay_ && !relayed_) {
        for (int relay = 0; relay < ranks_; ++relay) {
          if (relay == from || relay == to) continue;
          if (free_[index(from)][index(relay)] > 0 && free_[index(relay)][index(to)] > 0) take(from, to, relay, closing);
        }
      }
    }
  }

  void use(int from, int to, int relay, int links) {
    if (relay == from) {
      free_[index(from)][index(to)] -= links;
    } else {
      free_[index(from)][index(relay)] -= links;
      free_[index(relay)][index(to)] -= links;
      relayed_ = links > 0;
    }
  }

  void take(int from, int to, int relay, bool closing) {
    use(from, to, relay, 1);
    current_.via.push_back(relay);
    if (closing) {
      close();
    } else {
      visited_[index(to)] = true;
      current_.order.push_back(to);
      step();
      current_.order.pop_back();
      visited_[index(to)] = false;
    }
    current_.via.pop_back();
    use(from, to, relay, -1);
  }

  /// Keeps the finished ring and looks for more with the links that are left.
  void close() {
    if (!set_.empty() && current_.order < set_.back().order) return;
    const RankCycle kept = current_;
    const std::vector<bool> visited = visited_;
    const bool relayed = relayed_;
    set_.push_back(kept);
    next_ring();
    set_.pop_back();
    current_ = kept;
    visited_ = visited;
    relayed_ = relayed;
  }

  /// A cube mesh of eight needs a few thousand steps; beyond this the best set so far stands.
  static constexpr long kMostSteps = 200'000;

  LinkMatrix free_;
  int ranks_;
  bool relay_;
  int bound_ = 0;
  long steps_ = 0;
  RankCycle current_;
  std::vector<bool> visited_;
  bool relayed_ = false;
  std::vector<RankCycle> set_, best_;
};

}  // namespace

std::vector<RankCycle> largest_cycle_set(LinkMatrix links, bool relay) { return RingSearch(std::move(links), relay).run(); }

}  // namespace tbdsim
