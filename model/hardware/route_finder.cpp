#include "model/hardware/route_finder.hpp"

#include <algorithm>
#include <limits>

namespace tbdsim {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

bool is_gpu_link(const LinkBundle& link) { return link.kind == LinkKind::nvlink || link.kind == LinkKind::xgmi; }

}  // namespace

template <class Keep>
RouteFinder::Edges RouteFinder::edges(const Keep& keep) const {
  Edges edges;
  edges.begin.assign(topology_.vertices.size() + 1, 0);
  const auto each = [&](const auto& visit) {
    for (std::size_t i = 0; i < topology_.links.size(); ++i) {
      const LinkBundle& link = topology_.links[i];
      if (!keep(link)) continue;
      visit(link.a.value, Edge{link.b.value, static_cast<std::int32_t>(i)});
      visit(link.b.value, Edge{link.a.value, static_cast<std::int32_t>(i)});
    }
  };
  each([&](std::int32_t from, const Edge&) { ++edges.begin[at(from) + 1]; });
  for (std::size_t i = 1; i < edges.begin.size(); ++i) edges.begin[i] += edges.begin[i - 1];
  edges.all.resize(edges.begin.back());
  std::vector<std::size_t> next(edges.begin.begin(), edges.begin.end() - 1);
  each([&](std::int32_t from, const Edge& edge) { edges.all[next[at(from)]++] = edge; });
  return edges;
}

/// A GPU is no way through, and neither is what ends one link only.
RouteFinder::Edges RouteFinder::passable(const Edges& edges) const {
  Edges kept;
  kept.begin.reserve(edges.begin.size());
  kept.begin.push_back(0);
  for (std::size_t v = 0; v + 1 < edges.begin.size(); ++v) {
    for (std::size_t i = edges.begin[v]; i < edges.begin[v + 1]; ++i) {
      const auto to = at(edges.all[i].to);
      if (topology_.vertices[to].kind != VertexKind::gpu && edges.begin[to + 1] - edges.begin[to] > 1)
        kept.all.push_back(edges.all[i]);
    }
    kept.begin.push_back(kept.all.size());
  }
  return kept;
}

RouteFinder::RouteFinder(const Topology& topology)
    : topology_(topology),
      any_(edges([](const LinkBundle&) { return true; })),
      gpu_(edges(is_gpu_link)),
      host_(edges([](const LinkBundle& link) { return !is_gpu_link(link); })),
      through_gpu_(passable(gpu_)),
      through_host_(passable(host_)),
      reach_(topology.vertices.size()) {}

const RouteFinder::Edge* RouteFinder::first(const Edges& edges, std::int32_t v) { return edges.all.data() + edges.begin[at(v)]; }
const RouteFinder::Edge* RouteFinder::last(const Edges& edges, std::int32_t v) {
  return edges.all.data() + edges.begin[at(v) + 1];
}

double RouteFinder::width(std::int32_t link) const {
  const LinkBundle& bundle = topology_.links[at(link)];
  return bundle.count * bundle.achieved.base();
}

bool RouteFinder::is_gpu(std::int32_t v) const { return topology_.vertices[at(v)].kind == VertexKind::gpu; }

void RouteFinder::step(std::int32_t from, const Edge& edge) {
  const Reach& here = reach_[at(from)];
  Reach& there = reach_[at(edge.to)];
  const double width = std::min(here.width, this->width(edge.link));
  const bool fresh = there.search != search_;
  if (!fresh && (there.hops != here.hops + 1 || there.width >= width)) return;
  there = {search_, here.hops + 1, from, width};
  if (fresh) next_.push_back(edge.to);
}

void RouteFinder::search(VertexId a, std::optional<VertexId> b, Via via) {
  const bool through_gpus = via == Via::any || via == Via::relay;
  const Edges& whole = via == Via::any ? any_ : via == Via::host ? host_ : gpu_;
  const Edges& onward = through_gpus || !b ? whole : via == Via::host ? through_host_ : through_gpu_;
  ++search_;
  reach_[at(a.value)] = {search_, 0, a.value, std::numeric_limits<double>::infinity()};
  at_.assign(1, a.value);
  while (!at_.empty() && !(b && reached(*b))) {
    next_.clear();
    for (const std::int32_t v : at_) {
      if (!through_gpus && is_gpu(v) && v != a.value) continue;
      for (const Edge* edge = first(onward, v); edge != last(onward, v); ++edge) step(v, *edge);
    }
    if (b && &onward != &whole) {
      // What hangs on the end alone is not among the edges that lead on.
      for (const std::int32_t v : at_) {
        for (const Edge* edge = first(whole, b->value); edge != last(whole, b->value); ++edge)
          if (edge->to == v) step(v, {b->value, edge->link});
      }
    }
    // Of equally wide ways the first found stays; wider ones come first.
    std::stable_sort(next_.begin(), next_.end(),
                     [&](std::int32_t u, std::int32_t v) { return reach_[at(u)].width > reach_[at(v)].width; });
    at_.swap(next_);
  }
}

bool RouteFinder::reached(VertexId v) const { return reach_[at(v.value)].search == search_; }

std::int32_t RouteFinder::widest_between(const Edges& edges, std::int32_t u, std::int32_t v) const {
  if (last(edges, v) - first(edges, v) < last(edges, u) - first(edges, u)) std::swap(u, v);
  std::int32_t best = -1;
  for (const Edge* edge = first(edges, u); edge != last(edges, u); ++edge)
    if (edge->to == v && (best < 0 || width(edge->link) > width(best))) best = edge->link;
  return best;
}

Route RouteFinder::route_to(VertexId a, VertexId b, Via via) const {
  const Edges& edges = via == Via::any ? any_ : via == Via::host ? host_ : gpu_;
  Route route;
  route.vertices.push_back(b);
  for (std::int32_t v = b.value; v != a.value; v = reach_[at(v)].before) {
    route.links.push_back(widest_between(edges, reach_[at(v)].before, v));
    route.vertices.push_back(VertexId{reach_[at(v)].before});
  }
  std::reverse(route.vertices.begin(), route.vertices.end());
  std::reverse(route.links.begin(), route.links.end());
  for (const std::int32_t link : route.links) {
    const BytesPerSecond rate(width(link));
    route.bandwidth = link == route.links.front() ? rate : std::min(route.bandwidth, rate);
    route.latency += topology_.links[at(link)].latency;
  }
  return route;
}

std::optional<Route> RouteFinder::find(VertexId a, VertexId b, Via via) {
  search(a, b, via);
  if (!reached(b)) return std::nullopt;
  return route_to(a, b, via);
}

/// Links between two vertices over GPU links.
int RouteFinder::links_between(std::int32_t u, std::int32_t v) const {
  if (last(gpu_, v) - first(gpu_, v) < last(gpu_, u) - first(gpu_, u)) std::swap(u, v);
  int count = 0;
  for (const Edge* edge = first(gpu_, u); edge != last(gpu_, u); ++edge)
    if (edge->to == v) count += topology_.links[at(edge->link)].count;
  return count;
}

/// Links of a pair, direct and through NVSwitches: of each switch that both hang on, the fewer of the two. Without any, the GPUs
/// that are linked to both.
PairRelation RouteFinder::linked(VertexId a, VertexId b) const {
  PairRelation pair;
  pair.nvlinks = links_between(a.value, b.value);
  std::vector<std::int32_t> neighbours;
  for (const Edge* edge = first(gpu_, a.value); edge != last(gpu_, a.value); ++edge) neighbours.push_back(edge->to);
  std::sort(neighbours.begin(), neighbours.end());
  neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
  for (const std::int32_t v : neighbours) {
    const int both = std::min(links_between(a.value, v), links_between(v, b.value));
    if (topology_.vertices[at(v)].kind == VertexKind::nvswitch) pair.nvlinks += both;
    if (is_gpu(v) && both > 0) pair.relays.push_back(VertexId{v});
  }
  if (pair.nvlinks > 0) pair.relays.clear();
  return pair;
}

/// Word of `nvidia-smi topo -m` for the way through PCIe and CPUs; peer access where every link of the way allows it.
void RouteFinder::add_host_way(const Route& route, PairRelation& pair) const {
  bool across = false, peers = true;
  for (const std::int32_t index : route.links) {
    const LinkBundle& link = topology_.links[at(index)];
    across = across || link.kind == LinkKind::cpu_link || link.kind == LinkKind::network;
    peers = peers && link.peer_access;
  }
  const bool cpu = std::any_of(route.vertices.begin(), route.vertices.end(),
                               [&](VertexId v) { return topology_.vertices[at(v.value)].kind == VertexKind::cpu; });
  pair.pcie = across ? "SYS" : cpu ? "PHB" : "PIX";
  pair.peer_access = peers;
}

/// GPU-to-GPU steps of a route: a switch between two GPUs adds none.
int RouteFinder::gpu_hops(const Route& route) const {
  const auto gpus = std::count_if(route.vertices.begin(), route.vertices.end(), [&](VertexId v) { return is_gpu(v.value); });
  return static_cast<int>(gpus) - 1;
}

PairRelation RouteFinder::relation(VertexId a, VertexId b) {
  PairRelation pair = linked(a, b);
  if (const auto host = find(a, b, Via::host)) add_host_way(*host, pair);
  pair.peer_access = pair.nvlinks > 0 || pair.peer_access;
  if (const auto route = find(a, b, Via::relay)) pair.hops = gpu_hops(*route);
  return pair;
}

std::vector<PairRelation> RouteFinder::relations(VertexId a, const std::vector<VertexId>& others) {
  std::vector<PairRelation> pairs;
  pairs.reserve(others.size());
  search(a, std::nullopt, Via::host);
  for (const VertexId b : others) {
    pairs.push_back(a == b ? PairRelation{} : linked(a, b));
    if (a != b && reached(b)) add_host_way(route_to(a, b, Via::host), pairs.back());
    pairs.back().peer_access = pairs.back().nvlinks > 0 || pairs.back().peer_access;
  }
  search(a, std::nullopt, Via::relay);
  // Along the ways back, so that a long one is not walked for each of its vertices.
  std::vector<int> hops(reach_.size(), -1);
  hops[at(a.value)] = 0;
  std::vector<std::int32_t> way;
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (others[i] == a || !reached(others[i])) continue;
    for (std::int32_t v = others[i].value; hops[at(v)] < 0; v = reach_[at(v)].before) way.push_back(v);
    for (; !way.empty(); way.pop_back())
      hops[at(way.back())] = hops[at(reach_[at(way.back())].before)] + (is_gpu(way.back()) ? 1 : 0);
    pairs[i].hops = hops[at(others[i].value)];
  }
  return pairs;
}

}  // namespace tbdsim
