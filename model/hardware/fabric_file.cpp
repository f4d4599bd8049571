#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "model/hardware/hardware_file.hpp"

namespace tbdsim {
namespace {

constexpr std::int64_t kMostNodes = 1'000'000, kMostPorts = 4096;

FabricTier read_tier(const std::string& name, TomlTable& table, const System& system) {
  FabricTier tier;
  tier.name = name;
  if (table.has("nodes")) tier.nodes = static_cast<int>(table.integer("nodes", 2, kMostNodes));
  tier.ports = static_cast<int>(table.integer_or("ports", 0, 1, kMostPorts));
  tier.bandwidth = table.quantity_if<BytesPerSecond>("bandwidth");
  tier.oversubscription = table.number_or("oversubscription", 1.0, Bounds{1.0});
  tier.latency = table.quantity_if<Seconds>("latency", kNotNegative).value_or(Seconds(0.0));
  tier.rails = table.boolean_or("rails", false);
  tier.source = table.text("source");
  if (table.has("bandwidth") != table.has("ports"))
    table.problem(table.has("ports") ? "ports" : "bandwidth",
                  "a tier states both, `ports` of a node and their `bandwidth`, or neither");
  if (!table.has("bandwidth") && !system.network)
    table.problem("", "needs ports of its own (`ports`, `bandwidth`), because the system names no network");
  return tier;
}

/// The smallest tier first, the one of any number of nodes last.
bool smaller(const FabricTier& a, const FabricTier& b) {
  constexpr int kAny = std::numeric_limits<int>::max();
  return a.nodes.value_or(kAny) < b.nodes.value_or(kAny);
}

}  // namespace

std::vector<FabricTier> read_fabric(TomlTable& root, const System& system) {
  std::vector<FabricTier> tiers;
  if (!root.has("fabric")) return tiers;
  TomlTable fabric = root.table("fabric");
  for (auto& [name, table] : fabric.named_tables()) tiers.push_back(read_tier(name, table, system));
  std::stable_sort(tiers.begin(), tiers.end(), smaller);
  for (std::size_t i = 1; i < tiers.size(); ++i) {
    const FabricTier &below = tiers[i - 1], &tier = tiers[i];
    if (!below.nodes)
      fabric.problem(tier.name, fmt::format("one tier alone may leave out `nodes`, and {} does too", below.name));
    else if (tier.nodes && (*tier.nodes == *below.nodes || *tier.nodes % *below.nodes != 0))
      fabric.problem(tier.name, fmt::format("{} nodes are not several units of {}, of {} nodes each", *tier.nodes, below.name,
                                            *below.nodes));
  }
  return tiers;
}

}  // namespace tbdsim
