#include <algorithm>
#include <cstddef>
#include <limits>

#include "model/hardware/ring_search.hpp"
#include "model/hardware/route_finder.hpp"

namespace tbdsim {
namespace {

bool gpu_link(const LinkBundle& link) { return link.kind == LinkKind::nvlink || link.kind == LinkKind::xgmi; }

/// GPU links inside a group, as ranks see them, and the slowest of them.
struct GroupLinks {
  LinkMatrix direct;
  int switched = 0;  ///< links of each member to one common NVSwitch
  std::optional<BytesPerSecond> slowest;
};

// Boxes wired without a switch have at most 16 GPUs; the search grows too fast beyond.
constexpr std::size_t kLargestMesh = 16;

GroupLinks links_of(const Topology& topology, const std::vector<VertexId>& group) {
  const bool mesh = group.size() <= kLargestMesh;
  GroupLinks links;
  if (mesh) links.direct.assign(group.size(), std::vector<int>(group.size(), 0));
  std::vector<int> rank(topology.vertices.size(), -1);
  for (std::size_t i = 0; i < group.size(); ++i) rank[static_cast<std::size_t>(group[i].value)] = static_cast<int>(i);
  LinkMatrix to_switch(topology.vertices.size());
  for (const LinkBundle& link : topology.links) {
    if (!gpu_link(link)) continue;
    const int a = rank[static_cast<std::size_t>(link.a.value)], b = rank[static_cast<std::size_t>(link.b.value)];
    const auto outer = static_cast<std::size_t>(a >= 0 ? link.b.value : link.a.value);
    if (a >= 0 && b >= 0) {
      if (mesh) {
        links.direct[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] += link.count;
        links.direct[static_cast<std::size_t>(b)][static_cast<std::size_t>(a)] += link.count;
      }
    } else if ((a >= 0 || b >= 0) && topology.vertices[outer].kind == VertexKind::nvswitch) {
      to_switch[outer].resize(group.size(), 0);
      to_switch[outer][static_cast<std::size_t>(std::max(a, b))] += link.count;
    } else {
      continue;
    }
    links.slowest = std::min(links.slowest.value_or(link.sm_copy), link.sm_copy);
  }
  for (const std::vector<int>& ports : to_switch) {
    if (!ports.empty()) links.switched += *std::min_element(ports.begin(), ports.end());
  }
  return links;
}

Ring ring_of(const RankCycle& cycle, const std::vector<VertexId>& group) {
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
BytesPerSecond host_step(const Topology& topology, RouteFinder& finder, VertexId a, VertexId b) {
  const auto route = finder.find(a, b, Via::host);
  if (!route) return BytesPerSecond(0.0);
  const bool peers = finder.relation(a, b).peer_access;
  BytesPerSecond rate(std::numeric_limits<double>::infinity());
  for (const std::int32_t index : route->links) {
    const LinkBundle& link = topology.links[static_cast<std::size_t>(index)];
    rate = std::min(rate, link.count * link.sm_copy);
    if (!peers && link.staged) rate = std::min(rate, *link.staged);
  }
  return rate;
}

/// The ring that NCCL 2 makes of a group: from each GPU to the nearest that is left, whatever the order of the ranks. Larger
/// groups than stand in one box keep theirs.
std::vector<VertexId> by_nearness(RouteFinder& finder, std::vector<VertexId> group) {
  if (group.size() > kLargestMesh) return group;
  for (auto last = group.begin(); last + 1 < group.end(); ++last) {
    const auto hops = [&](VertexId to) {
      const auto route = finder.find(*last, to, Via::host);
      return route ? route->hops() : std::numeric_limits<int>::max();
    };
    const auto nearest = std::min_element(last + 1, group.end(), [&](VertexId a, VertexId b) { return hops(a) < hops(b); });
    std::rotate(last + 1, nearest, nearest + 1);
  }
  return group;
}

RingSet host_ring(const Topology& topology, const std::vector<VertexId>& ranks) {
  RouteFinder finder(topology);
  const std::vector<VertexId> group = by_nearness(finder, ranks);
  RingSet set;
  set.rings.push_back(Ring{group, {}});
  set.effective_rings = 1.0;
  set.bandwidth = BytesPerSecond(std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < group.size(); ++i) {
    set.bandwidth = std::min(set.bandwidth, host_step(topology, finder, group[i], group[(i + 1) % group.size()]));
  }
  return set;
}

/// NCCL tries half-speed rings on small groups only: on a DGX-1P they are seen with 4 GPUs, not with 7.
constexpr std::size_t kMostRanksAtHalfSpeed = 4;

/// Cycles of half the rate: two to a link.
std::vector<RankCycle> half_speed_cycles(const LinkMatrix& links) {
  LinkMatrix doubled = links;
  for (auto& row : doubled) {
    for (int& count : row) count *= 2;
  }
  return largest_cycle_set(doubled, false);
}

}  // namespace

RingSet find_rings(const Topology& topology, const std::vector<VertexId>& group, const RingOptions& options) {
  if (group.size() < 2) return {};
  const GroupLinks links = links_of(topology, group);
  RingSet set;
  if (links.switched > 0) {
    set.rings.assign(static_cast<std::size_t>(links.switched), Ring{group, {}});
  } else if (links.slowest && group.size() <= kLargestMesh) {
    std::vector<RankCycle> cycles = largest_cycle_set(links.direct, false);
    if (cycles.empty() && options.relay) {
      cycles = largest_cycle_set(links.direct, true);
      set.relayed = !cycles.empty();
    }
    for (const RankCycle& cycle : cycles) set.rings.push_back(ring_of(cycle, group));
  }
  if (set.rings.empty()) return host_ring(topology, group);
  set.over_nvlink = true;
  set.bandwidth = *links.slowest;
  set.effective_rings = static_cast<double>(set.rings.size());
  if (options.half_speed && links.switched == 0 && !set.relayed && group.size() <= kMostRanksAtHalfSpeed) {
    const std::vector<RankCycle> cycles = half_speed_cycles(links.direct);
    if (cycles.size() > 2 * set.rings.size()) {
      for (const RankCycle& cycle : cycles) set.half_speed_rings.push_back(ring_of(cycle, group));
      set.effective_rings = static_cast<double>(cycles.size()) / 2.0;
    }
  }
  return set;
}

}  // namespace tbdsim
