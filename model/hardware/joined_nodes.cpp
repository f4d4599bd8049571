#include "model/hardware/joined_nodes.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "model/hardware/plain_host.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kKinds = 5;

std::size_t at(VertexKind kind) { return static_cast<std::size_t>(kind); }

/// Vertices of each kind.
std::array<int, kKinds> counts(const Topology& topology) {
  std::array<int, kKinds> all{};
  for (const Vertex& vertex : topology.vertices) ++all[at(vertex.kind)];
  return all;
}

/// The vertex of the joined node that is `old` of copy `copy`. Switches are all copies' alike.
VertexId of_copy(const Topology& node, const std::array<int, kKinds>& many, const Topology& joined, VertexId old, int copy) {
  const Vertex& vertex = node.vertices[static_cast<std::size_t>(old.value)];
  if (vertex.kind == VertexKind::nvswitch) return *joined.find(vertex.name);
  const std::string word(name(vertex.kind));
  const int index = std::stoi(vertex.name.substr(word.size()));
  return *joined.find(word + std::to_string(index + copy * many[at(vertex.kind)]));
}

}  // namespace

std::string join_nodes(System& system, int count) {
  const Topology node = system.topology;
  const std::array<int, kKinds> many = counts(node);
  const auto kind = [&](VertexId id) { return node.vertices[static_cast<std::size_t>(id.value)].kind; };
  const auto meets_directly = [&](const LinkBundle& link) {
    return (link.kind == LinkKind::nvlink || link.kind == LinkKind::xgmi) && kind(link.a) != VertexKind::nvswitch &&
           kind(link.b) != VertexKind::nvswitch;
  };
  if (many[at(VertexKind::nvswitch)] == 0 || std::any_of(node.links.begin(), node.links.end(), meets_directly))
    return "expected GPUs that are linked by NVSwitches alone, which can be joined";
  Topology& joined = system.topology;
  joined.vertices =
      node_vertices(count * many[at(VertexKind::gpu)], count * many[at(VertexKind::cpu)],
                    count * many[at(VertexKind::pcie_switch)], many[at(VertexKind::nvswitch)], count * many[at(VertexKind::nic)]);
  joined.links.clear();
  for (int copy = 0; copy < count; ++copy)
    for (LinkBundle link : node.links) {
      if (copy > 0 && kind(link.a) == VertexKind::nvswitch && kind(link.b) == VertexKind::nvswitch) continue;
      link.a = of_copy(node, many, joined, link.a, copy);
      link.b = of_copy(node, many, joined, link.b, copy);
      link.name = joined.vertices[static_cast<std::size_t>(link.a.value)].name + "-" +
                  joined.vertices[static_cast<std::size_t>(link.b.value)].name;
      joined.links.push_back(std::move(link));
    }
  const auto times = [&](auto& value) {
    if (value) value = static_cast<double>(count) * *value;
  };
  system.gpu_count *= count;
  system.hosts *= count;
  system.nics *= count;
  system.host.sockets *= count;
  system.host.cores *= count;
  times(system.host.memory_capacity);
  times(system.host.price);
  times(system.host.power);
  times(system.price);
  times(system.rent);
  times(system.power);
  for (FabricTier& tier : system.tiers) {
    if (tier.nodes) tier.nodes = std::max(1, *tier.nodes / count);
    tier.ports *= count;
  }
  return "";
}

}  // namespace tbdsim
