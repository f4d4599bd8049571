#include "model/schedule/collective/ring_paths.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "model/hardware/route_finder.hpp"

namespace tbdsim {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Every port of a switch fabric carries all rings both ways, spread over the switches by their links.
void load_ports(const Topology& topology, const std::vector<VertexId>& gpus, DirectedLoads& loads) {
  std::vector<bool> member(topology.vertices.size(), false);
  for (const VertexId gpu : gpus) member[at(gpu.value)] = true;
  std::vector<int> ports(topology.vertices.size(), 0);
  const auto switched = [&](const LinkBundle& link) {
    return topology.vertices[at(link.b.value)].kind == VertexKind::nvswitch && member[at(link.a.value)];
  };
  for (const LinkBundle& link : topology.links) {
    if (switched(link)) ports[at(link.a.value)] += link.count;
  }
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const LinkBundle& link = topology.links[i];
    if (!switched(link)) continue;
    const double share = static_cast<double>(link.count) / ports[at(link.a.value)];
    loads.add(static_cast<std::int32_t>(i), true, share);
    loads.add(static_cast<std::int32_t>(i), false, share);
  }
}

void load_ring(RouteFinder& finder, const Ring& ring, Via via, double share, DirectedLoads& loads) {
  for (std::size_t i = 0; i < ring.order.size(); ++i) {
    const VertexId from = ring.order[i], to = ring.order[(i + 1) % ring.order.size()];
    const std::optional<VertexId> relay = ring.via.empty() ? std::nullopt : ring.via[i];
    if (relay) {
      if (const auto there = finder.find(from, *relay, via)) loads.add(*there, share);
      if (const auto on = finder.find(*relay, to, via)) loads.add(*on, share);
    } else if (const auto route = finder.find(from, to, via)) {
      loads.add(*route, share);
    }
  }
}

NcclFabric fabric_of(const Topology& topology, RouteFinder& finder, const std::vector<VertexId>& gpus, const RingSet& set) {
  if (!set.over_nvlink) {
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      if (!finder.relation(gpus[i], gpus[(i + 1) % gpus.size()]).peer_access) return NcclFabric::host;
    }
    return NcclFabric::peer;
  }
  const bool switched = std::any_of(topology.vertices.begin(), topology.vertices.end(),
                                    [](const Vertex& v) { return v.kind == VertexKind::nvswitch; });
  return switched ? NcclFabric::nvswitch : NcclFabric::mesh;
}

}  // namespace

void DirectedLoads::add(std::int32_t link, bool from_a, double share) { loads_[2 * at(link) + (from_a ? 1 : 0)] += share; }

void DirectedLoads::add(const Route& route, double share) {
  for (std::size_t i = 0; i < route.links.size(); ++i)
    add(route.links[i], route.vertices[i] == topology_.links[at(route.links[i])].a, share);
}

void DirectedLoads::write(std::vector<CollectiveLink>& links, std::vector<LinkWeight>& weights) const {
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    if (loads_[i] <= 0.0) continue;
    const LinkBundle& bundle = topology_.links[i / 2];
    weights.push_back({static_cast<std::int32_t>(links.size()), loads_[i]});
    links.push_back({bundle.name + (i % 2 == 1 ? " >" : " <"), bundle.count * bundle.sm_copy});
  }
}

Result<RingPaths> ring_paths(const Topology& topology, const std::vector<VertexId>& gpus, const RingOptions& options,
                             const std::string& who) {
  RingPaths paths;
  if (gpus.size() < 2) return paths;
  const RingSet set = find_rings(topology, gpus, options);
  if (set.bandwidth <= BytesPerSecond(0.0)) return fail(fmt::format("{} cannot reach each other", who));
  RouteFinder finder(topology);
  paths.fabric = fabric_of(topology, finder, gpus, set);
  paths.rings = std::max(set.effective_rings, 1.0);
  paths.channels = static_cast<int>(set.rings.size());
  paths.bandwidth = paths.rings * set.bandwidth;
  paths.relayed = set.relayed;
  paths.description = fmt::format("{:g} {} ring{} at {:.3g} GB/s", set.effective_rings, set.over_nvlink ? "NVLink" : "host",
                                  set.effective_rings == 1 ? "" : "s", set.bandwidth.base() / 1e9);
  DirectedLoads loads(topology);
  if (paths.fabric == NcclFabric::nvswitch) {
    load_ports(topology, gpus, loads);
  } else {
    const std::vector<Ring>& rings = set.half_speed_rings.empty() ? set.rings : set.half_speed_rings;
    for (const Ring& ring : rings)
      load_ring(finder, ring, set.over_nvlink ? Via::direct : Via::host, 1.0 / static_cast<double>(rings.size()), loads);
  }
  loads.write(paths.links, paths.weights);
  return paths;
}

}  // namespace tbdsim
