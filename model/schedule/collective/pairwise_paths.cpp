#include "model/schedule/collective/pairwise_paths.hpp"

namespace tbdsim {
namespace {

std::optional<Route> pair_route(const Topology& topology, VertexId from, VertexId to, bool relay) {
  if (auto route = find_route(topology, from, to, Via::direct)) return route;
  // NCCL relays point-to-point traffic over one GPU at most.
  constexpr int kHopsOverOneRelay = 2;
  if (relay) {
    if (auto route = find_route(topology, from, to, Via::relay); route && route->hops() <= kHopsOverOneRelay) return route;
  }
  return find_route(topology, from, to, Via::host);
}

}  // namespace

void load_pairs(const Topology& topology, const std::vector<VertexId>& gpus, CollectiveKind kind, const RingOptions& options,
                RingPaths& paths) {
  if (gpus.size() < 2) return;
  const bool all = kind == CollectiveKind::all_to_all;
  // Behind a switch every port carries all but a rank's own part, as one ring does.
  const double others = all ? static_cast<double>(gpus.size()) - 1.0 : 1.0;
  if (paths.fabric == NcclFabric::nvswitch) {
    for (LinkWeight& use : paths.weights) use.weight *= others;
    return;
  }
  DirectedLoads loads(topology);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t k = 1; k < (all ? gpus.size() : 2); ++k) {
      const VertexId from = gpus[i], to = gpus[(i + k) % gpus.size()];
      if (const auto route = pair_route(topology, from, to, options.relay)) loads.add(*route, 1.0);
    }
  }
  paths.links.clear();
  paths.weights.clear();
  loads.write(paths.links, paths.weights);
}

}  // namespace tbdsim
