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

/// `leaves`: the part of a rank's bytes that leaves a unit which holds so many of the group.
template <class Leaves>
std::vector<TierShare> shares_of(const RankPlaces& places, const Layout& layout, const AxisGroup& group, Leaves leaves) {
  if (group.size <= 1) return {};
  const auto per_node = static_cast<int>(places.devices.size());
  std::vector<TierShare> shares;
  double inner = 1.0;
  const auto add = [&](TierShare tier, double outer) {
    tier.share = inner - outer;
    if (tier.share > 1e-12) shares.push_back(std::move(tier));
    inner = outer;
  };
  GroupReach way;
  Fabric fabric;
  if (places.network) {
    fabric = fabric_of(places.system, *places.network);
    fabric.node_ranks = per_node;
    way = reach(fabric, {group.stride, group.size, std::max(1, layout.gpus() / group.size)});
  }
  const auto outside = [&](std::size_t crossing) {
    return crossing < way.crossings.size() ? leaves(way.crossings[crossing].members) : 0.0;
  };
  add({"node", 0.0, gpu_links(places.system.topology), false, 0}, outside(0));
  for (std::size_t i = 0; i < way.crossings.size(); ++i) {
    const FabricLevel& level = fabric.levels[way.crossings[i].level];
    add({level.name, 0.0, (1.0 / per_node) * level.node_share, true, way.crossings[i].level + 1}, outside(i + 1));
  }
  return shares;
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
  double scale = 1.0;
  const bool exchanges = axis == Axis::expert || (axis == Axis::context && layout.by_heads);
  const GroupSpan span = span_of(group, static_cast<int>(places.devices.size()));
  // Of rows that cross nodes once, the same part passes each further tier.
  if (axis == Axis::expert && once_per_node != nullptr && span.nodes > 1)
    scale = over_network(*once_per_node, span) / leaving(axis, exchanges, span.local, group.size);
  return shares_of(places, layout, group, [&](int members) { return scale * leaving(axis, exchanges, members, group.size); });
}

std::vector<TierShare> expert_array_shares(const RankPlaces& places, const Layout& layout) {
  const AxisGroup group = expert_copies(layout);
  return shares_of(places, layout, group, [&](int members) { return leaving(Axis::data, false, members, group.size); });
}

}  // namespace tbdsim
