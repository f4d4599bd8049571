#include "model/schedule/divided/tier_traffic.hpp"

#include <algorithm>

namespace tbdsim {
namespace {

/// The part of a rank's bytes, on the mean, that leaves a unit which holds `members` of `size` ranks; `exchanges`: each sends as
/// much to every other one.
double leaving(Axis axis, bool exchanges, int members, int size) {
  if (members >= size) return 0.0;
  if (exchanges) return static_cast<double>(size - members) / (size - 1);
  const int units = (size + members - 1) / members;
  if (axis == Axis::pipeline) return static_cast<double>(units - 1) / (size - 1);
  return static_cast<double>(units) / size;
}

/// The part of the bytes that `GroupPlans::once_per_node` sends over the network.
double over_network(const ExpertChoice& choice, GroupSpan span) {
  const double n = span.nodes, l = span.local;
  const double across = nodes_reached(choice, span.nodes) * (n - 1.0) / n;
  const double within = static_cast<double>(choice.per_token) * (l - 1.0) / l;
  return across / (across + within);
}

}  // namespace

BytesPerSecond gpu_links(const Topology& topology) {
  const std::vector<VertexId> gpus = topology.gpus();
  if (gpus.empty()) return BytesPerSecond(0.0);
  BytesPerSecond direct(0.0), pcie(0.0);
  for (const LinkBundle& link : topology.links) {
    if (link.a != gpus.front() && link.b != gpus.front()) continue;
    const bool host = link.kind == LinkKind::pcie || link.kind == LinkKind::internal || link.kind == LinkKind::cpu_link;
    (host ? pcie : direct) += static_cast<double>(link.count) * link.achieved;
  }
  return direct > BytesPerSecond(0.0) ? direct : pcie;
}

std::vector<TierShare> tier_shares(const RankPlaces& places, const Layout& layout, Axis axis, const ExpertChoice* once_per_node) {
  const AxisGroup group = group_of(layout, axis);
  if (group.size <= 1) return {};
  const auto per_node = static_cast<int>(places.devices.size());
  std::vector<TierShare> shares;
  double inner = 1.0;
  const auto add = [&](std::string tier, double outer, BytesPerSecond capacity, bool network) {
    if (inner - outer > 1e-12) shares.push_back({std::move(tier), inner - outer, capacity, network});
    inner = outer;
  };
  GroupReach way;
  Fabric fabric;
  if (places.network) {
    fabric = fabric_of(places.system, *places.network);
    fabric.node_ranks = per_node;
    way = reach(fabric, {group.stride, group.size, std::max(1, layout.gpus() / group.size)});
  }
  const bool exchanges = axis == Axis::expert || (axis == Axis::context && layout.by_heads);
  // Of rows that cross nodes once, the same part passes each further tier.
  double scale = 1.0;
  if (const GroupSpan span = span_of(group, per_node); axis == Axis::expert && once_per_node != nullptr && span.nodes > 1)
    scale = over_network(*once_per_node, span) / leaving(axis, exchanges, span.local, group.size);
  const auto outside = [&](std::size_t crossing) {
    return crossing < way.crossings.size() ? scale * leaving(axis, exchanges, way.crossings[crossing].members, group.size) : 0.0;
  };
  add("node", outside(0), gpu_links(places.system.topology), false);
  for (std::size_t i = 0; i < way.crossings.size(); ++i) {
    const FabricLevel& level = fabric.levels[way.crossings[i].level];
    add(level.name, outside(i + 1), (1.0 / per_node) * level.node_share, true);
  }
  return shares;
}

}  // namespace tbdsim
