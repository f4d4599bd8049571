#include "model/schedule/data_path.hpp"

#include <algorithm>
#include <limits>

#include "model/hardware/route_finder.hpp"

namespace tbdsim {
namespace {

/// The shortest way from any CPU, the widest of equals.
std::optional<Route> from_host(RouteFinder& finder, const std::vector<VertexId>& cpus, VertexId gpu) {
  std::optional<Route> best;
  for (const VertexId cpu : cpus) {
    auto route = finder.find(cpu, gpu, Via::host);
    const bool better =
        route && (!best || route->hops() < best->hops() || (route->hops() == best->hops() && route->bandwidth > best->bandwidth));
    if (better) best = std::move(route);
  }
  return best;
}

}  // namespace

ReadCost read_cost(const Storage& storage, Bytes stored, SampleAccess access) {
  const auto rate = storage.rate();
  const Seconds transfer = rate ? stored / *rate : Seconds(0.0);
  if (access == SampleAccess::records) return {transfer, Seconds(0.0)};
  const Seconds alone = storage.access.value_or(Seconds(0.0)) + (storage.random_read ? stored / *storage.random_read : transfer);
  return {std::max(transfer, alone / static_cast<double>(storage.at_once)), alone};
}

Seconds input_copy_time(const Topology& topology, const std::vector<int>& devices, Bytes bytes, bool pinned) {
  const std::vector<VertexId> gpus = topology.gpus();
  std::vector<VertexId> cpus;
  for (std::size_t i = 0; i < topology.vertices.size(); ++i)
    if (topology.vertices[i].kind == VertexKind::cpu) cpus.push_back(VertexId{static_cast<std::int32_t>(i)});
  RouteFinder finder(topology);
  std::vector<double> users(topology.links.size(), 0.0);
  std::vector<Route> routes;
  for (const int device : devices) {
    if (static_cast<std::size_t>(device) >= gpus.size()) continue;
    auto route = from_host(finder, cpus, gpus[static_cast<std::size_t>(device)]);
    if (!route) continue;
    for (const std::int32_t link : route->links) users[static_cast<std::size_t>(link)] += 1.0;
    routes.push_back(std::move(*route));
  }
  Seconds longest(0.0);
  for (const Route& route : routes) {
    for (const std::int32_t index : route.links) {
      const LinkBundle& link = topology.links[static_cast<std::size_t>(index)];
      const BytesPerSecond rate = static_cast<double>(link.count) * link.achieved;
      longest = std::max(longest, users[static_cast<std::size_t>(index)] * bytes / rate);
    }
  }
  return pinned || routes.empty() ? longest : longest + bytes / kMemoryCopy;
}

}  // namespace tbdsim
