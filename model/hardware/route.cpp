#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <limits>

#include "model/hardware/topology.hpp"

namespace tbdsim {
namespace {

/// How far a vertex is, and how wide the best way to it. Fewer hops win; among equals, the wider way.
struct Reach {
  int hops = 0;
  double width = 0.0;  ///< B/s
  friend bool operator<(const Reach& a, const Reach& b) { return a.hops != b.hops ? a.hops < b.hops : a.width > b.width; }
};

struct EdgeData {
  std::int32_t link = 0;  ///< index into Topology::links
  Reach reach;
};

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property, EdgeData>;

bool gpu_link(const LinkBundle& link) { return link.kind == LinkKind::nvlink || link.kind == LinkKind::xgmi; }

bool is_kind(const Topology& topology, VertexId v, VertexKind kind) {
  return topology.vertices[static_cast<std::size_t>(v.value)].kind == kind;
}

double width_of(const LinkBundle& link) { return link.count * link.achieved.base(); }

/// The links that `via` allows between a and b. Through the host, other GPUs are no way; a direct way has no GPU inside.
bool allowed(const Topology& topology, const LinkBundle& link, VertexId a, VertexId b, Via via) {
  if (via == Via::any) return true;
  if (via == Via::relay) return gpu_link(link);
  if (gpu_link(link) != (via == Via::direct)) return false;
  for (const VertexId end : {link.a, link.b}) {
    if (is_kind(topology, end, VertexKind::gpu) && end != a && end != b) return false;
  }
  return true;
}

Graph graph_of(const Topology& topology, VertexId a, VertexId b, Via via) {
  Graph graph(topology.vertices.size());
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const LinkBundle& link = topology.links[i];
    if (!allowed(topology, link, a, b, via)) continue;
    const EdgeData data{static_cast<std::int32_t>(i), Reach{1, width_of(link)}};
    boost::add_edge(static_cast<std::size_t>(link.a.value), static_cast<std::size_t>(link.b.value), data, graph);
  }
  return graph;
}

/// The widest bundle between two neighbours.
std::optional<std::int32_t> widest_between(const Graph& graph, std::size_t from, std::size_t to) {
  std::optional<std::int32_t> best;
  double width = 0.0;
  for (const auto& edge : boost::make_iterator_range(boost::out_edges(from, graph))) {
    if (boost::target(edge, graph) != to || (best && graph[edge].reach.width <= width)) continue;
    best = graph[edge].link;
    width = graph[edge].reach.width;
  }
  return best;
}

Route build_route(const Topology& topology, const Graph& graph, const std::vector<std::size_t>& predecessor, VertexId a,
                  VertexId b) {
  Route route;
  auto at = static_cast<std::size_t>(b.value);
  route.vertices.push_back(b);
  while (at != static_cast<std::size_t>(a.value)) {
    const std::size_t before = predecessor[at];
    route.links.push_back(*widest_between(graph, before, at));
    route.vertices.push_back(VertexId{static_cast<std::int32_t>(before)});
    at = before;
  }
  std::reverse(route.vertices.begin(), route.vertices.end());
  std::reverse(route.links.begin(), route.links.end());
  bool first = true;
  for (const std::int32_t index : route.links) {
    const LinkBundle& link = topology.links[static_cast<std::size_t>(index)];
    const BytesPerSecond width(width_of(link));
    route.bandwidth = first ? width : std::min(route.bandwidth, width);
    route.latency += link.latency;
    first = false;
  }
  return route;
}

}  // namespace

std::optional<Route> find_route(const Topology& topology, VertexId a, VertexId b, Via via) {
  const Graph graph = graph_of(topology, a, b, via);
  const std::size_t vertices = topology.vertices.size();
  constexpr int kUnreached = std::numeric_limits<int>::max() / 2;
  const Reach infinity{kUnreached, 0.0}, zero{0, std::numeric_limits<double>::infinity()};
  std::vector<std::size_t> predecessor(vertices);
  std::vector<Reach> reach(vertices);
  const auto combine = [](const Reach& u, const Reach& edge) { return Reach{u.hops + edge.hops, std::min(u.width, edge.width)}; };
  boost::dijkstra_shortest_paths(graph, static_cast<std::size_t>(a.value),
                                 boost::predecessor_map(predecessor.data())
                                     .distance_map(reach.data())
                                     .weight_map(boost::get(&EdgeData::reach, graph))
                                     .distance_compare(std::less<Reach>())
                                     .distance_combine(combine)
                                     .distance_inf(infinity)
                                     .distance_zero(zero));
  if (reach[static_cast<std::size_t>(b.value)].hops >= kUnreached) return std::nullopt;
  return build_route(topology, graph, predecessor, a, b);
}

std::optional<Route> find_route(const Topology& topology, VertexId a, VertexId b) { return find_route(topology, a, b, Via::any); }

}  // namespace tbdsim
