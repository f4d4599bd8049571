#include "model/hardware/host_memory.hpp"

#include <algorithm>

#include "model/hardware/route_finder.hpp"

namespace tbdsim {
namespace {

/// Line rate of a channel of 8 B.
constexpr BytesPerSecond channels(int count, double transfers) { return BytesPerSecond(count * transfers * 8.0); }

/// Memory of a socket by the line rate of its PCIe x16. Sources: datasheet: Xeon E5 v4, EPYC 7002, Xeon Scalable of 2023;
/// assumed: that a host has them.
BytesPerSecond usual_socket(BytesPerSecond pcie) {
  constexpr BytesPerSecond kThird(16e9), kFourth(32e9);
  return pcie <= kThird ? channels(4, 2400e6) : pcie <= kFourth ? channels(8, 3200e6) : channels(8, 4800e6);
}

/// The shortest way to any CPU.
std::optional<Route> way_up(RouteFinder& finder, VertexId gpu, const std::vector<VertexId>& cpus) {
  std::optional<Route> best;
  for (const VertexId cpu : cpus) {
    auto way = finder.find(gpu, cpu, Via::host);
    if (way && (!best || way->hops() < best->hops())) best = std::move(way);
    if (best && best->hops() == 1) break;
  }
  return best;
}

}  // namespace

HostMemoryRate host_memory_rate(const System& system) {
  const Host& host = system.host;
  if (host.memory_bandwidth) return {*host.memory_bandwidth, host.memory_bandwidth_source.rfind("assumed:", 0) == 0};
  BytesPerSecond pcie(0.0);
  for (const LinkBundle& link : system.topology.links)
    if (link.kind == LinkKind::pcie) pcie = std::max(pcie, link.bandwidth);
  return {static_cast<double>(host.sockets) * usual_socket(pcie), true};
}

BytesPerSecond host_copy_rate(const Topology& topology, const std::vector<int>& devices) {
  const std::vector<VertexId> gpus = topology.gpus();
  std::vector<VertexId> cpus;
  for (std::size_t i = 0; i < topology.vertices.size(); ++i)
    if (topology.vertices[i].kind == VertexKind::cpu) cpus.push_back({static_cast<std::int32_t>(i)});
  RouteFinder finder(topology);
  std::vector<Route> ways;
  std::vector<int> sharing(topology.links.size(), 0);
  for (const int device : devices) {
    auto way = way_up(finder, gpus[static_cast<std::size_t>(device)], cpus);
    if (!way) return BytesPerSecond(0.0);
    for (const std::int32_t link : way->links) ++sharing[static_cast<std::size_t>(link)];
    ways.push_back(std::move(*way));
  }
  std::optional<BytesPerSecond> slowest;
  for (const Route& way : ways)
    for (const std::int32_t index : way.links) {
      const LinkBundle& link = topology.links[static_cast<std::size_t>(index)];
      const BytesPerSecond rate = (static_cast<double>(link.count) / sharing[static_cast<std::size_t>(index)]) * link.achieved;
      slowest = std::min(slowest.value_or(rate), rate);
    }
  return slowest.value_or(BytesPerSecond(0.0));
}

}  // namespace tbdsim
