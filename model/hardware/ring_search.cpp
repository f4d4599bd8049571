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
  RingSearch(const LinkMatrix& links, bool relay) : ranks_(static_cast<int>(links.size())), relay_(relay) {
    free_.reserve(links.size() * links.size());
    for (const std::vector<int>& row : links) free_.insert(free_.end(), row.begin(), row.end());
    int bound = std::numeric_limits<int>::max();
    for (int i = 0; i < ranks_; ++i) {
      int out = 0;
      for (int j = 0; j < ranks_; ++j) out += links_left(i, j);
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
  [[nodiscard]] int links_left(int from, int to) const { return free_[index(from * ranks_ + to)]; }
  int& links_left(int from, int to) { return free_[index(from * ranks_ + to)]; }

  void next_ring() {
    if (set_.size() > best_.size()) best_ = set_;
    if (done() || set_.size() + index(room()) <= best_.size()) return;
    current_ = RankCycle{{0}, {}};
    visited_.assign(index(ranks_), 0);
    visited_[0] = 1;
    relayed_ = false;
    step();
  }

  /// Rings that the links left could still hold: no rank can be left more often than it has links out, nor entered.
  [[nodiscard]] int room() const {
    int least = std::numeric_limits<int>::max();
    for (int i = 0; i < ranks_; ++i) {
      int out = 0, in = 0;
      for (int j = 0; j < ranks_; ++j) {
        out += links_left(i, j);
        in += links_left(j, i);
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
    for (int to = closing ? 0 : least_next(); to < (closing ? 1 : ranks_); ++to) {
      if (!closing && visited_[index(to)] != 0) continue;
      if (links_left(from, to) > 0) {
        take(from, to, from, closing);
      } else if (relay_ && !relayed_) {
        for (int relay = 0; relay < ranks_; ++relay) {
          if (relay == from || relay == to) continue;
          if (links_left(from, relay) > 0 && links_left(relay, to) > 0) take(from, to, relay, closing);
        }
      }
    }
  }

  /// The next rank of a ring that begins like the last one of the set may not come before that one's.
  [[nodiscard]] int least_next() const {
    const std::vector<int>& order = current_.order;
    if (set_.empty() || !std::equal(order.begin(), order.end(), set_.back().order.begin())) return 1;
    return set_.back().order[order.size()];
  }

  void use(int from, int to, int relay, int links) {
    if (relay == from) {
      links_left(from, to) -= links;
    } else {
      links_left(from, relay) -= links;
      links_left(relay, to) -= links;
      relayed_ = links > 0;
    }
  }

  void take(int from, int to, int relay, bool closing) {
    use(from, to, relay, 1);
    current_.via.push_back(relay);
    if (closing) {
      close();
    } else {
      visited_[index(to)] = 1;
      current_.order.push_back(to);
      step();
      current_.order.pop_back();
      visited_[index(to)] = 0;
    }
    current_.via.pop_back();
    use(from, to, relay, -1);
  }

  /// Keeps the finished ring and looks for more with the links that are left.
  void close() {
    const RankCycle kept = current_;
    const std::vector<char> visited = visited_;
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

  std::vector<int> free_;  ///< row by row
  int ranks_;
  bool relay_;
  int bound_ = 0;
  long steps_ = 0;
  RankCycle current_;
  std::vector<char> visited_;
  bool relayed_ = false;
  std::vector<RankCycle> set_, best_;
};

}  // namespace

std::vector<RankCycle> largest_cycle_set(const LinkMatrix& links, bool relay) { return RingSearch(links, relay).run(); }

}  // namespace tbdsim
