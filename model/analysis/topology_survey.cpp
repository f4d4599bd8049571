#include "model/analysis/topology_survey.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/engine/shared_link.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

const std::string& name_of(const Topology& topology, VertexId id) {
  return topology.vertices[static_cast<std::size_t>(id.value)].name;
}

Result<std::vector<VertexId>> group_of(const System& system, const std::vector<int>& devices) {
  const std::vector<VertexId> all = system.topology.gpus();
  std::vector<VertexId> group;
  for (const int device : devices) {
    if (device < 0 || device >= static_cast<int>(all.size()))
      return fail(fmt::format("--devices {}: {} has GPUs 0..{}", device, system.id, all.size() - 1));
    const VertexId id = all[static_cast<std::size_t>(device)];
    if (std::find(group.begin(), group.end(), id) != group.end())
      return fail(fmt::format("--devices names GPU {} twice", device));
    group.push_back(id);
  }
  if (group.empty()) return fail(fmt::format("{}: no GPUs chosen", system.id));
  return group;
}

std::vector<std::string> ring_names(const Topology& topology, const Ring& ring) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < ring.order.size(); ++i) {
    names.push_back(name_of(topology, ring.order[i]));
    if (!ring.via.empty() && ring.via[i]) names.push_back(fmt::format("({})", name_of(topology, *ring.via[i])));
  }
  return names;
}

Result<VertexId> vertex(const Topology& topology, const std::string& name) {
  if (const auto found = topology.find(name)) return *found;
  std::vector<std::string> known;
  for (const Vertex& v : topology.vertices) known.push_back(v.name);
  const auto near = nearest(name, known);
  return fail(
      fmt::format("--route: no vertex {}{}", tbdsim::quoted(name),
                  near ? fmt::format(", did you mean \"{}\"?", *near) : fmt::format("; there are {}", fmt::join(known, ", "))));
}

TransferWay way_of(const Topology& topology, const Route& route, const char* via, Bytes bytes) {
  TransferWay way{via, {}, {}, route.bandwidth, route.latency, bytes, route.latency + bytes / route.bandwidth};
  for (const VertexId id : route.vertices) way.vertices.push_back(name_of(topology, id));
  for (const std::int32_t link : route.links) way.links.push_back(topology.links[static_cast<std::size_t>(link)].type);
  return way;
}

/// The way a copy takes by itself; over the host at the staged rate where the two are no peers.
std::optional<Route> copy_route(const Topology& topology, VertexId from, VertexId to, CopyRate& rate) {
  auto route = find_route(topology, from, to, Via::direct);
  if (!route) route = find_route(topology, from, to, Via::host);
  if (!route) return std::nullopt;
  rate.staged = !relation(topology, from, to).peer_access;
  rate.alone = route->bandwidth;
  for (const std::int32_t index : route->links) {
    const LinkBundle& link = topology.links[static_cast<std::size_t>(index)];
    if (rate.staged && link.staged) rate.alone = std::min(rate.alone, *link.staged);
  }
  return route;
}

// All pairs of more GPUs than stand in one box are not laid out: their copies would be counted in millions.
constexpr std::size_t kMostCopyingGpus = 16;

/// Copies of every pair of the group, alone and all at once.
std::vector<std::vector<CopyRate>> copy_rates(const Topology& topology, const std::vector<VertexId>& group) {
  std::vector<std::vector<CopyRate>> rates(group.size(), std::vector<CopyRate>(group.size()));
  if (group.size() > kMostCopyingGpus) return rates;
  std::vector<BytesPerSecond> capacities;  // of both directions of each link
  for (const LinkBundle& link : topology.links) capacities.insert(capacities.end(), 2, link.count * link.achieved);
  std::vector<std::vector<engine::LinkUse>> uses;
  std::vector<engine::FlowRoute> flows;
  std::vector<CopyRate*> targets;
  for (std::size_t i = 0; i < group.size(); ++i) {
    for (std::size_t j = 0; j < group.size(); ++j) {
      const auto route = i == j ? std::nullopt : copy_route(topology, group[i], group[j], rates[i][j]);
      if (!route) continue;
      uses.emplace_back();
      for (std::size_t k = 0; k < route->links.size(); ++k) {
        const std::int32_t link = route->links[k];
        const bool forward = topology.links[static_cast<std::size_t>(link)].a == route->vertices[k];
        uses.back().push_back({engine::LinkId{2 * link + (forward ? 1 : 0)}, 1.0});
      }
      targets.push_back(&rates[i][j]);
    }
  }
  for (std::size_t f = 0; f < uses.size(); ++f) flows.push_back({uses[f], targets[f]->alone});
  engine::SharedLinks shared(capacities, flows);
  for (std::size_t f = 0; f < flows.size(); ++f) shared.start(static_cast<std::int32_t>(f));
  shared.update();
  for (std::size_t f = 0; f < flows.size(); ++f) targets[f]->contended = shared.rate(static_cast<std::int32_t>(f));
  return rates;
}

}  // namespace

Result<TopologySurvey> survey(const System& system, const std::vector<int>& devices) {
  const auto group = group_of(system, devices);
  if (!group) return tl::make_unexpected(group.error());
  const Topology& topology = system.topology;
  TopologySurvey result;
  result.system = system.id;
  result.device = system.device.id;
  for (const VertexId a : *group) {
    result.gpus.push_back(name_of(topology, a));
    result.pairs.emplace_back();
    result.relays.emplace_back();
    for (const VertexId b : *group) {
      const PairRelation pair = a == b ? PairRelation{} : relation(topology, a, b);
      if (pair.peer_access) ++result.peer_pairs;
      std::vector<std::string> relays;
      for (const VertexId relay : pair.relays) relays.push_back(name_of(topology, relay));
      result.pairs.back().push_back(pair);
      result.relays.back().push_back(std::move(relays));
    }
  }
  result.copies = copy_rates(topology, *group);
  result.rings = find_rings(topology, *group, default_ring_options(system.device));
  for (const Ring& ring : result.rings.rings) result.ring_orders.push_back(ring_names(topology, ring));
  result.ring_bandwidth = result.rings.effective_rings * result.rings.bandwidth;
  return result;
}

Result<std::vector<TransferWay>> transfer_ways(const System& system, const std::string& from, const std::string& to,
                                               Bytes bytes) {
  const auto a = vertex(system.topology, from), b = vertex(system.topology, to);
  Errors errors;
  for (const auto* end : {&a, &b}) {
    if (!*end) errors.insert(errors.end(), end->error().begin(), end->error().end());
  }
  if (!errors.empty()) return tl::make_unexpected(errors);
  if (*a == *b) return fail(fmt::format("--route: {} is both ends", from));
  std::vector<TransferWay> ways;
  for (const auto& [via, word] :
       {std::pair{Via::direct, "direct"}, std::pair{Via::relay, "relay"}, std::pair{Via::host, "host"}}) {
    const auto route = find_route(system.topology, *a, *b, via);
    const bool repeats = route && !ways.empty() && ways.back().vertices == way_of(system.topology, *route, word, bytes).vertices;
    if (route && !repeats) ways.push_back(way_of(system.topology, *route, word, bytes));
  }
  if (ways.empty()) return fail(fmt::format("{}: no way from {} to {}", system.id, from, to));
  return ways;
}

}  // namespace tbdsim
