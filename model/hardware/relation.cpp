#include <algorithm>

#include "model/hardware/route_finder.hpp"

namespace tbdsim {

PairRelation relation(const Topology& topology, VertexId a, VertexId b) { return RouteFinder(topology).relation(a, b); }

std::vector<std::vector<PairRelation>> pair_matrix(const Topology& topology) {
  const std::vector<VertexId> gpus = topology.gpus();
  RouteFinder finder(topology);
  std::vector<std::vector<PairRelation>> matrix;
  matrix.reserve(gpus.size());
  for (const VertexId gpu : gpus) matrix.push_back(finder.relations(gpu, gpus));
  return matrix;
}

int peer_pairs(const Topology& topology) {
  const std::vector<VertexId> gpus = topology.gpus();
  RouteFinder finder(topology);
  std::ptrdiff_t pairs = 0;
  for (const VertexId gpu : gpus) {
    const std::vector<PairRelation> row = finder.relations(gpu, gpus);
    pairs += std::count_if(row.begin(), row.end(), [](const PairRelation& pair) { return pair.peer_access; });
  }
  return static_cast<int>(pairs);
}

}  // namespace tbdsim
