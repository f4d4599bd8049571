#include "model/hardware/fabric.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace tbdsim {
namespace {

/// Ranks of the units below a level, and of the level's own.
std::int64_t ranks_below(const Fabric& fabric, std::size_t level) {
  return std::int64_t{fabric.node_ranks} * (level == 0 ? 1 : *fabric.levels[level - 1].nodes);
}

/// Whether all copies stay inside units of `unit` ranks.
bool inside(const RankGroup& group, std::int64_t unit) {
  const std::int64_t block = std::int64_t{group.stride} * group.size;
  if (unit % block == 0) return true;
  const std::int64_t blocks = (group.copies + group.stride - 1) / group.stride;
  return blocks * block <= unit;
}

/// Whether the units of the tier below `level` are joined by rails of which none serves the group alone: members have other
/// indices in one node than in the next.
bool off_rails(const Fabric& fabric, std::size_t level, const RankGroup& group) {
  const int node = fabric.node_ranks;
  return level > 0 && fabric.levels[level - 1].rails && group.stride % node != 0 && node % group.stride != 0;
}

FabricCrossing crossing(const Fabric& fabric, std::size_t level, const RankGroup& group) {
  // What leaves its rail passes the next tier between any two nodes.
  const std::int64_t unit = off_rails(fabric, level, group) ? fabric.node_ranks : ranks_below(fabric, level);
  const std::int64_t block = std::int64_t{group.stride} * group.size;
  const std::int64_t members = (unit + group.stride - 1) / group.stride;
  const std::int64_t neighbours = block % unit == 0 ? 1 : 2;  // blocks that meet in one unit
  FabricCrossing found;
  found.level = level;
  found.members = static_cast<int>(std::min<std::int64_t>(group.size, members));
  found.sharing =
      static_cast<int>(std::min<std::int64_t>({group.copies, neighbours * std::min<std::int64_t>(group.stride, unit), unit}));
  const FabricLevel& into = fabric.levels[level];
  const double nodes = static_cast<double>(unit) / fabric.node_ranks;
  found.unit_bandwidth = nodes * into.node_share;
  // A member sends through the ports beside its GPU; several GPUs may have to share one.
  const double own = std::max(1.0, static_cast<double>(into.ports) / fabric.node_ranks);
  const double ports = std::min(found.members * own, nodes * into.ports);
  found.rate = std::min(found.unit_bandwidth / static_cast<double>(found.sharing), ports * into.port);
  return found;
}

}  // namespace

GroupReach reach(const Fabric& fabric, const RankGroup& group) {
  assert(group.stride > 0 && group.size > 0 && group.copies > 0 && !fabric.levels.empty());
  GroupReach found;
  for (std::size_t level = 0; level < fabric.levels.size(); ++level) {
    if (group.size == 1 || (!off_rails(fabric, level, group) && inside(group, ranks_below(fabric, level)))) break;
    found.crossings.push_back(crossing(fabric, level, group));
    found.tier = level + 1;
    found.latency = fabric.levels[level].latency;
  }
  return found;
}

BytesPerSecond GroupReach::ring() const {
  BytesPerSecond narrowest(std::numeric_limits<double>::infinity());
  for (const FabricCrossing& c : crossings) narrowest = std::min(narrowest, c.rate);
  return narrowest;
}

BytesPerSecond GroupReach::exchange(int size) const {
  BytesPerSecond narrowest(std::numeric_limits<double>::infinity());
  for (const FabricCrossing& c : crossings) {
    if (c.members >= size) continue;
    // Of what a member sends, the part for members of other units crosses.
    const double crossing = static_cast<double>(size - c.members) / (size - 1);
    narrowest = std::min(narrowest, c.rate / (c.members * crossing));
  }
  return narrowest;
}

BytesPerSecond GroupReach::pair(const Fabric& fabric) const {
  BytesPerSecond narrowest(std::numeric_limits<double>::infinity());
  for (const FabricCrossing& c : crossings) {
    const FabricLevel& level = fabric.levels[c.level];
    const double own = std::max(1.0, static_cast<double>(level.ports) / fabric.node_ranks);
    narrowest = std::min({narrowest, c.unit_bandwidth / static_cast<double>(c.sharing), own * level.port});
  }
  return narrowest;
}

}  // namespace tbdsim
