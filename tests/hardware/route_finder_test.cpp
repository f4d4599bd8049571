// The finder of routes against Dijkstra's algorithm on the whole graph, on every machine of the catalogue and on invented ones.
#include "model/hardware/route_finder.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <filesystem>
#include <limits>
#include <random>

#include "model/hardware/cluster.hpp"
#include "model/hardware/lookup.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

struct Reach {
  int hops = 0;
  double width = 0.0;
  friend bool operator<(const Reach& a, const Reach& b) { return a.hops != b.hops ? a.hops < b.hops : a.width > b.width; }
};
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property, Reach>;

bool allowed(const Topology& topology, const LinkBundle& link, VertexId a, VertexId b, Via via) {
  const bool gpu_link = link.kind == LinkKind::nvlink || link.kind == LinkKind::xgmi;
  if (via == Via::any) return true;
  if (via == Via::relay) return gpu_link;
  if (gpu_link != (via == Via::direct)) return false;
  for (const VertexId end : {link.a, link.b}) {
    if (topology.vertices[static_cast<std::size_t>(end.value)].kind == VertexKind::gpu && end != a && end != b) return false;
  }
  return true;
}

/// Hops and width of the widest of the shortest ways; no hops where there is none.
Reach reference(const Topology& topology, VertexId a, VertexId b, Via via) {
  Graph graph(topology.vertices.size());
  for (const LinkBundle& link : topology.links)
    if (allowed(topology, link, a, b, via))
      boost::add_edge(static_cast<std::size_t>(link.a.value), static_cast<std::size_t>(link.b.value),
                      Reach{1, link.count * link.achieved.base()}, graph);
  constexpr int kUnreached = std::numeric_limits<int>::max() / 2;
  std::vector<Reach> reach(topology.vertices.size());
  const auto combine = [](const Reach& u, const Reach& edge) { return Reach{u.hops + edge.hops, std::min(u.width, edge.width)}; };
  boost::dijkstra_shortest_paths(graph, static_cast<std::size_t>(a.value),
                                 boost::distance_map(reach.data())
                                     .weight_map(boost::get(boost::edge_bundle, graph))
                                     .distance_compare(std::less<Reach>())
                                     .distance_combine(combine)
                                     .distance_inf(Reach{kUnreached, 0.0})
                                     .distance_zero(Reach{0, std::numeric_limits<double>::infinity()}));
  const Reach end = reach[static_cast<std::size_t>(b.value)];
  return end.hops >= kUnreached ? Reach{} : end;
}

void check_routes(const Topology& topology, const std::vector<VertexId>& ends) {
  RouteFinder finder(topology);
  for (const VertexId a : ends) {
    const std::vector<PairRelation> row = finder.relations(a, ends);
    for (std::size_t j = 0; j < ends.size(); ++j) {
      const VertexId b = ends[j];
      if (a == b) continue;
      for (const Via via : {Via::any, Via::direct, Via::host, Via::relay}) {
        const Reach expected = reference(topology, a, b, via);
        const auto found = finder.find(a, b, via);
        CAPTURE(a.value, b.value, static_cast<int>(via));
        REQUIRE(found.has_value() == (expected.hops > 0));
        if (!found) continue;
        REQUIRE(found->hops() == expected.hops);
        REQUIRE(found->bandwidth.base() == expected.width);
        REQUIRE((found->vertices.front() == a && found->vertices.back() == b));
        for (std::size_t i = 0; i < found->links.size(); ++i) {
          const LinkBundle& link = topology.links[static_cast<std::size_t>(found->links[i])];
          const bool joins = (link.a == found->vertices[i] && link.b == found->vertices[i + 1]) ||
                             (link.b == found->vertices[i] && link.a == found->vertices[i + 1]);
          REQUIRE(joins);
          REQUIRE(allowed(topology, link, a, b, via));
        }
      }
      const auto is_gpu = [&](VertexId v) {
        return topology.vertices[static_cast<std::size_t>(v.value)].kind == VertexKind::gpu;
      };
      if (is_gpu(a) && is_gpu(b)) REQUIRE(row[j] == relation(topology, a, b));
    }
  }
}

}  // namespace

TEST_CASE("routes on every machine of the catalogue are those of Dijkstra's algorithm") {
  const Catalogue catalogue{TBDSIM_SOURCE_DIR};
  for (const std::string& id : catalogue_ids(catalogue, "systems")) {
    const auto system = load_system(catalogue, id, 8);
    REQUIRE(system);
    INFO(id);
    std::vector<VertexId> ends = system->topology.gpus();
    if (ends.size() > 16) ends.resize(16);
    ends.push_back(*system->topology.find("cpu0"));
    check_routes(system->topology, ends);
  }
}

TEST_CASE("routes on random wirings are those of Dijkstra's algorithm") {
  const unsigned seed = 20260411;
  std::mt19937 random(seed);
  constexpr LinkKind kKinds[] = {LinkKind::nvlink, LinkKind::pcie, LinkKind::cpu_link};
  for (int round = 0; round < 60; ++round) {
    CAPTURE(seed, round);
    Topology topology;
    std::vector<VertexId> ends;
    for (int v = 0; v < 10; ++v) {
      const VertexKind kind = v < 5 ? VertexKind::gpu : static_cast<VertexKind>(1 + random() % 3);
      topology.vertices.push_back({"v" + std::to_string(v), kind});
      ends.push_back(VertexId{v});
    }
    for (int l = 0; l < 18; ++l) {
      LinkBundle link;
      link.kind = kKinds[random() % 3];
      link.a = VertexId{static_cast<std::int32_t>(random() % 10)};
      link.b = VertexId{static_cast<std::int32_t>((static_cast<unsigned>(link.a.value) + 1 + random() % 9) % 10)};
      link.count = 1 + static_cast<int>(random() % 3);
      link.achieved = BytesPerSecond(1e9 * static_cast<double>(1 + random() % 4));
      topology.links.push_back(link);
    }
    check_routes(topology, ends);
  }
}
