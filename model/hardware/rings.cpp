#include <algorithm>
#include <cstddef>
#include <limits>

#include "model/hardware/topology.hpp"

namespace tbdsim {
namespace {

using Matrix = std::vector<std::vector<int>>;  ///< free links from rank i to rank j

bool gpu_link(const LinkBundle& link) { return link.kind == LinkKind::nvlink || link.kind == LinkKind::xgmi; }

struct Cycle {
  std::vector<int> order;
  std::vector<int> via;  ///< rank that relays step i, or the rank itself where no relay is needed
};

/// Search for the largest set of directed Hamiltonian cycles from rank 0, depth first with neighbours in rank order.
/// Cycles of a set are found in ascending order, so no set is visited twice.
class RingSearch {
 public:
  RingSearch(Matrix links, bool relay) : free_(std::move(links)), ranks_(static_cast<int>(free_.size())), relay_(relay) {
    int bound = std::numeric_limits<int>::max();
    for (int i = 0; i < ranks_; ++i) {
      int out = 0;
      for (int j = 0; j < ranks_; ++j) out += free_[index(i)][index(j)];
      bound = std::min(bound, out);
    }
    bound_ = bound;
  }

  std::vector<Cycle> run() {
    next_ring();
    return best_;
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  void next_ring() {
    if (set_.size() > best_.size()) best_ = set_;
    if (done() || set_.size() + index(room()) <= best_.size()) return;
    current_ = Cycle{{0}, {}};
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
    const Cycle kept = current_;
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

  Matrix free_;
  int ranks_;
  bool relay_;
  int bound_ = 0;
  long steps_ = 0;
  Cycle current_;
  std::vector<bool> visited_;
  bool relayed_ = false;
  std::vector<Cycle> set_, best_;
};

/// GPU links inside a group, as ranks see them, and the slowest of them.
struct GroupLinks {
  Matrix direct;
  int switched = 0;  ///< links of each member to one common NVSwitch
  std::optional<BytesPerSecond> slowest;
};

std::optional<int> rank_of(const std::vector<VertexId>& group, VertexId v) {
  const auto found = std::find(group.begin(), group.end(), v);
  if (found == group.end()) return std::nullopt;
  return static_cast<int>(found - group.begin());
}

GroupLinks links_of(const Topology& topology, const std::vector<VertexId>& group) {
  GroupLinks links;
  links.direct.assign(group.size(), std::vector<int>(group.size(), 0));
  Matrix to_switch(topology.vertices.size(), std::vector<int>(group.size(), 0));
  for (const LinkBundle& link : topology.links) {
    if (!gpu_link(link)) continue;
    const auto a = rank_of(group, link.a), b = rank_of(group, link.b);
    const VertexId outer = a ? link.b : link.a;
    const bool at_switch = topology.vertices[static_cast<std::size_t>(outer.value)].kind == VertexKind::nvswitch;
    if (a && b) {
      links.direct[static_cast<std::size_t>(*a)][static_cast<std::size_t>(*b)] += link.count;
      links.direct[static_cast<std::size_t>(*b)][static_cast<std::size_t>(*a)] += link.count;
    } else if ((a || b) && at_switch) {
      to_switch[static_cast<std::size_t>(outer.value)][static_cast<std::size_t>(a ? *a : *b)] += link.count;
    } else {
      continue;
    }
    links.slowest = std::min(links.slowest.value_or(link.sm_copy), link.sm_copy);
  }
  for (const std::vector<int>& ports : to_switch) links.switched += *std::min_element(ports.begin(), ports.end());
  return links;
}

Ring ring_of(const Cycle& cycle, const std::vector<VertexId>& group) {
  Ring ring;
  bool relayed = false;
  for (std::size_t i = 0; i < cycle.order.size(); ++i) {
    ring.order.push_back(group[static_cast<std::size_t>(cycle.order[i])]);
    const bool step_relayed = cycle.via[i] != cycle.order[i];
    ring.via.push_back(step_relayed ? std::optional(group[static_cast<std::size_t>(cycle.via[i])]) : std::nullopt);
    relayed = relayed || step_relayed;
  }
  if (!relayed) ring.via.clear();
  return ring;
}

/// Rate of one step over PCIe and host: copy kernels between peers, else staged in host memory.
BytesPerSecond host_step(const Topology& topology, VertexId a, VertexId b) {
  const auto route = find_route(topology, a, b, Via::host);
  if (!route) return BytesPerSecond(0.0);
  const bool peers = relation(topology, a, b).peer_access;
  BytesPerSecond rate(std::numeric_limits<double>::infinity());
  for (const std::int32_t index : route->links) {
    const LinkBundle& link = topology.links[static_cast<std::size_t>(index)];
    rate = std::min(rate, link.count * link.sm_copy);
    if (!peers && link.staged) rate = std::min(rate, *link.staged);
  }
  return rate;
}

RingSet host_ring(const Topology& topology, const std::vector<VertexId>& group) {
  RingSet set;
  set.rings.push_back(Ring{group, {}});
  set.effective_rings = 1.0;
  set.bandwidth = BytesPerSecond(std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < group.size(); ++i) {
    set.bandwidth = std::min(set.bandwidth, host_step(topology, group[i], group[(i + 1) % group.size()]));
  }
  return set;
}

/// NCCL tries half-speed rings on small groups only: on a DGX-1P they are seen with 4 GPUs, not with 7.
constexpr std::size_t kMostRanksAtHalfSpeed = 4;

double half_speed_rings(const Matrix& links) {
  Matrix doubled = links;
  for (auto& row : doubled) {
    for (int& count : row) count *= 2;
  }
  return static_cast<double>(RingSearch(doubled, false).run().size()) / 2.0;
}

}  // namespace

RingSet find_rings(const Topology& topology, const std::vector<VertexId>& group, const RingOptions& options) {
  if (group.size() < 2) return {};
  const GroupLinks links = links_of(topology, group);
  RingSet set;
  if (links.switched > 0) {
    set.rings.assign(static_cast<std::size_t>(links.switched), Ring{group, {}});
  } else if (links.slowest) {
    std::vector<Cycle> cycles = RingSearch(links.direct, false).run();
    if (cycles.empty() && options.relay) {
      cycles = RingSearch(links.direct, true).run();
      set.relayed = !cycles.empty();
    }
    for (const Cycle& cycle : cycles) set.rings.push_back(ring_of(cycle, group));
  }
  if (set.rings.empty()) return host_ring(topology, group);
  set.over_nvlink = true;
  set.bandwidth = *links.slowest;
  set.effective_rings = static_cast<double>(set.rings.size());
  if (options.half_speed && links.switched == 0 && !set.relayed && group.size() <= kMostRanksAtHalfSpeed) {
    set.effective_rings = std::max(set.effective_rings, half_speed_rings(links.direct));
  }
  return set;
}

}  // namespace tbdsim
