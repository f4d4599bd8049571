#include <algorithm>

#include "model/hardware/topology.hpp"

namespace tbdsim {
namespace {

bool gpu_link(const LinkBundle& link) { return link.kind == LinkKind::nvlink || link.kind == LinkKind::xgmi; }

VertexKind kind_of(const Topology& topology, VertexId v) { return topology.vertices[static_cast<std::size_t>(v.value)].kind; }

/// Links between two vertices over GPU links.
int links_between(const Topology& topology, VertexId a, VertexId b) {
  int count = 0;
  for (const LinkBundle& link : topology.links) {
    if (gpu_link(link) && ((link.a == a && link.b == b) || (link.a == b && link.b == a))) count += link.count;
  }
  return count;
}

/// Links through NVSwitches: of each switch that both hang on, the fewer of the two.
int links_through_switches(const Topology& topology, VertexId a, VertexId b) {
  int count = 0;
  for (std::size_t i = 0; i < topology.vertices.size(); ++i) {
    if (topology.vertices[i].kind != VertexKind::nvswitch) continue;
    const VertexId through{static_cast<std::int32_t>(i)};
    count += std::min(links_between(topology, a, through), links_between(topology, b, through));
  }
  return count;
}

/// GPU-to-GPU steps of a route: a switch between two GPUs adds none.
int gpu_hops(const Topology& topology, const Route& route) {
  const auto gpus = std::count_if(route.vertices.begin(), route.vertices.end(),
                                  [&](VertexId v) { return kind_of(topology, v) == VertexKind::gpu; });
  return static_cast<int>(gpus) - 1;
}

struct HostWay {
  std::string word;          ///< "PIX", "PHB", "SYS"
  bool peer_access = false;  ///< every link of the way allows it
};

/// Word of `nvidia-smi topo -m` for the way through PCIe and CPUs.
HostWay host_way(const Topology& topology, VertexId a, VertexId b) {
  const auto route = find_route(topology, a, b, Via::host);
  if (!route) return {};
  bool across = false, peers = true;
  for (const std::int32_t index : route->links) {
    const LinkBundle& link = topology.links[static_cast<std::size_t>(index)];
    across = across || link.kind == LinkKind::cpu_link || link.kind == LinkKind::network;
    peers = peers && link.peer_access;
  }
  const bool cpu = std::any_of(route->vertices.begin(), route->vertices.end(),
                               [&](VertexId v) { return kind_of(topology, v) == VertexKind::cpu; });
  return {across ? "SYS" : cpu ? "PHB" : "PIX", peers};
}

}  // namespace

PairRelation relation(const Topology& topology, VertexId a, VertexId b) {
  PairRelation pair;
  pair.nvlinks = links_between(topology, a, b) + links_through_switches(topology, a, b);
  const HostWay host = host_way(topology, a, b);
  pair.pcie = host.word;
  pair.peer_access = pair.nvlinks > 0 || host.peer_access;
  if (const auto route = find_route(topology, a, b, Via::relay)) pair.hops = gpu_hops(topology, *route);
  if (pair.nvlinks > 0) return pair;
  for (const VertexId relay : topology.gpus()) {
    if (links_between(topology, a, relay) > 0 && links_between(topology, relay, b) > 0) pair.relays.push_back(relay);
  }
  return pair;
}

std::vector<std::vector<PairRelation>> pair_matrix(const Topology& topology) {
  const std::vector<VertexId> gpus = topology.gpus();
  std::vector<std::vector<PairRelation>> matrix(gpus.size(), std::vector<PairRelation>(gpus.size()));
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t j = 0; j < gpus.size(); ++j) {
      if (i != j) matrix[i][j] = relation(topology, gpus[i], gpus[j]);
    }
  }
  return matrix;
}

int peer_pairs(const Topology& topology) {
  int pairs = 0;
  for (const auto& row : pair_matrix(topology)) {
    pairs += static_cast<int>(std::count_if(row.begin(), row.end(), [](const PairRelation& pair) { return pair.peer_access; }));
  }
  return pairs;
}

}  // namespace tbdsim
