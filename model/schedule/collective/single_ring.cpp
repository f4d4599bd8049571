#include <fmt/format.h>
#include <algorithm>

#include "model/hardware/route_finder.hpp"
#include "model/schedule/collective/ring_paths.hpp"

namespace tbdsim {

Result<RingPaths> single_ring_path(const Topology& topology, const std::vector<VertexId>& gpus, const RingOptions& options,
                                   const std::string& who) {
  RingPaths paths;
  if (gpus.size() < 2) return paths;
  paths.rings = 1;
  paths.channels = 1;
  paths.fabric = NcclFabric::mesh;
  DirectedLoads loads(topology);
  RouteFinder finder(topology);
  RingOptions no_relay = options;
  no_relay.relay = false;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const VertexId from = gpus[i], to = gpus[(i + 1) % gpus.size()];
    const RingSet pair = find_rings(topology, {from, to}, no_relay);
    const BytesPerSecond rate = std::max(pair.effective_rings, 1.0) * pair.bandwidth;
    const auto route = finder.find(from, to, pair.over_nvlink ? Via::direct : Via::host);
    if (!route || rate <= BytesPerSecond(0.0)) return fail(fmt::format("{} cannot reach each other", who));
    loads.add(*route, 1.0);
    paths.bandwidth = i == 0 ? rate : std::min(paths.bandwidth, rate);
    if (pair.over_nvlink) continue;
    const bool peers = finder.relation(from, to).peer_access;
    if (!peers || paths.fabric == NcclFabric::mesh) paths.fabric = peers ? NcclFabric::peer : NcclFabric::host;
  }
  const bool linked = paths.fabric == NcclFabric::mesh;
  paths.description = fmt::format("one ring in order of the devices, {}, at {:.3g} GB/s",
                                  linked ? "over NVLink" : "in part over the host", paths.bandwidth.base() / 1e9);
  loads.write(paths.links, paths.weights);
  return paths;
}

}  // namespace tbdsim
