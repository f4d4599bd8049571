#include "model/hardware/route_finder.hpp"

namespace tbdsim {

std::optional<Route> find_route(const Topology& topology, VertexId a, VertexId b, Via via) {
  return RouteFinder(topology).find(a, b, via);
}

std::optional<Route> find_route(const Topology& topology, VertexId a, VertexId b) { return find_route(topology, a, b, Via::any); }

}  // namespace tbdsim
