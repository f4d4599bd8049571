#include "model/hardware/copy_rate.hpp"

#include <algorithm>

namespace tbdsim {

bool staged_copy(RouteFinder& finder, VertexId from, VertexId to) {
  const auto is_gpu = [&](VertexId id) {
    return finder.topology().vertices[static_cast<std::size_t>(id.value)].kind == VertexKind::gpu;
  };
  return is_gpu(from) && is_gpu(to) && !finder.relation(from, to).peer_access;
}

BytesPerSecond copy_rate(const Topology& topology, const Route& route, bool staged) {
  BytesPerSecond rate = route.bandwidth;
  for (const std::int32_t index : route.links) {
    const LinkBundle& link = topology.links[static_cast<std::size_t>(index)];
    if (staged && link.staged && !link.peer_access) rate = std::min(rate, *link.staged);
  }
  return rate;
}

std::optional<BytesPerSecond> host_slot(const Topology& topology, VertexId gpu) {
  for (const LinkBundle& link : topology.links) {
    if (link.kind == LinkKind::pcie && (link.a == gpu || link.b == gpu)) return link.count * link.sm_copy;
  }
  return std::nullopt;
}

}  // namespace tbdsim
