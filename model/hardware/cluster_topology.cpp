#include <fmt/format.h>

#include <algorithm>

#include "model/hardware/cluster.hpp"

namespace tbdsim {
namespace {

VertexId shifted(VertexId v, std::size_t offset) { return VertexId{v.value + static_cast<std::int32_t>(offset)}; }

LinkBundle network_link(const Network& network, const Topology& topology, VertexId from, VertexId to) {
  LinkBundle link;
  link.name = topology.vertices[static_cast<std::size_t>(from.value)].name + "-" +
              topology.vertices[static_cast<std::size_t>(to.value)].name;
  link.type = "network";
  link.kind = LinkKind::network;
  link.a = from;
  link.b = to;
  link.bandwidth = network.bandwidth;
  link.achieved = link.sm_copy = network.achieved;
  // A message crosses two of these links, from NIC to switch and from switch to NIC.
  link.latency = 0.5 * network.latency;
  link.source = network.source;
  link.achieved_source = link.sm_copy_source = network.achieved_source;
  link.latency_source = network.latency_source;
  return link;
}

}  // namespace

Topology cluster_topology(const System& system, int nodes, const Network& network) {
  const Topology& node = system.topology;
  Topology cluster;
  for (int n = 0; n < nodes; ++n) {
    for (const Vertex& vertex : node.vertices)
      cluster.vertices.push_back({fmt::format("node{}/{}", n, vertex.name), vertex.kind});
  }
  const VertexId hub{static_cast<std::int32_t>(cluster.vertices.size())};
  cluster.vertices.push_back({"network_switch0", VertexKind::network_switch});
  const bool has_nic =
      std::any_of(node.vertices.begin(), node.vertices.end(), [](const Vertex& v) { return v.kind == VertexKind::nic; });
  const VertexKind joint = has_nic ? VertexKind::nic : VertexKind::cpu;
  for (int n = 0; n < nodes; ++n) {
    const std::size_t offset = static_cast<std::size_t>(n) * node.vertices.size();
    for (LinkBundle link : node.links) {
      link.name = fmt::format("node{}/{}", n, link.name);
      link.a = shifted(link.a, offset);
      link.b = shifted(link.b, offset);
      cluster.links.push_back(std::move(link));
    }
    for (std::size_t i = 0; i < node.vertices.size(); ++i) {
      if (node.vertices[i].kind != joint) continue;
      cluster.links.push_back(network_link(network, cluster, shifted(VertexId{static_cast<std::int32_t>(i)}, offset), hub));
      if (!has_nic) break;
    }
  }
  return cluster;
}

int node_ports(const System& system, const Network& network) {
  if (!system.network) return 1;
  // A family of one maker's numbers its generations: "efa-1", "efa-2".
  const auto family = [](const Network& n) { return std::string_view(n.transport).substr(0, n.transport.find('-')); };
  const bool all =
      system.network->id == network.id || (family(network) != "sockets" && family(*system.network) == family(network));
  return all ? std::max(1, system.nics) : 1;
}

BytesPerSecond node_bandwidth(const System& system, const Network& network) {
  return node_ports(system, network) * network.achieved;
}

RingOptions default_ring_options(const Device& device) {
  constexpr std::string_view kFirstWithRelays = "7.0";  // Volta
  RingOptions options;
  options.relay = device.compute_capability.size() > kFirstWithRelays.size() || device.compute_capability >= kFirstWithRelays;
  return options;
}

}  // namespace tbdsim
