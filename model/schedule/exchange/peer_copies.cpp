#include "model/schedule/exchange/peer_copies.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <map>

#include "model/hardware/copy_rate.hpp"

namespace tbdsim {
namespace {

/// Copies asked of each link direction so far, in time per byte.
using Load = std::map<std::string, double>;

CopyRoute copy_route(const Topology& topology, const Route& route, CopyRoute::Way way) {
  CopyRoute result;
  result.way = way;
  result.latency = route.latency;
  for (std::size_t i = 0; i < route.links.size(); ++i) {
    const LinkBundle& bundle = topology.links[static_cast<std::size_t>(route.links[i])];
    const bool forward = route.vertices[i] == bundle.a;
    result.hops.push_back({fmt::format("{}{}", bundle.name, forward ? " >" : " <"), bundle.count * bundle.achieved});
  }
  return result;
}

void count(const CopyRoute& route, Load& load) {
  for (const auto& hop : route.hops) load[hop.link] += 1.0 / hop.capacity.base();
}

double busiest(const CopyRoute& route, const Load& load) {
  double most = 0.0;
  for (const auto& hop : route.hops) {
    const auto found = load.find(hop.link);
    most = std::max(most, (found == load.end() ? 0.0 : found->second) + 1.0 / hop.capacity.base());
  }
  return most;
}

std::optional<CopyRoute> relayed_route(const Topology& topology, RouteFinder& finder, VertexId a, VertexId b,
                                       const std::vector<VertexId>& job, const Load& load) {
  std::optional<CopyRoute> best;
  for (const VertexId relay : finder.relation(a, b).relays) {
    // A GPU outside the job has no context of it that could hold the bytes.
    const auto member = std::find(job.begin(), job.end(), relay);
    if (member == job.end()) continue;
    const auto first = finder.find(a, relay, Via::direct), second = finder.find(relay, b, Via::direct);
    if (!first || !second) continue;
    CopyRoute route = copy_route(topology, *first, CopyRoute::Way::relayed);
    const CopyRoute onward = copy_route(topology, *second, CopyRoute::Way::relayed);
    route.hops.insert(route.hops.end(), onward.hops.begin(), onward.hops.end());
    route.latency += onward.latency;
    route.relay = static_cast<std::int32_t>(member - job.begin());
    if (!best || busiest(route, load) < busiest(*best, load)) best = std::move(route);
  }
  return best;
}

}  // namespace

Result<std::vector<CopyRoute>> peer_routes(const System& system, const std::vector<int>& devices, UnlinkedRoute unlinked) {
  const Topology& topology = system.topology;
  const std::vector<VertexId> gpus = topology.gpus();
  const std::size_t n = devices.size();
  if (n > kMostCopyingPeers)
    return fail(fmt::format("{}: copies between every two of {} GPUs of a node are not modelled, at most {} GPUs", system.id, n,
                            kMostCopyingPeers));
  RouteFinder finder(topology);
  std::vector<VertexId> job;
  job.reserve(n);
  for (const int device : devices) job.push_back(gpus[static_cast<std::size_t>(device)]);
  std::vector<CopyRoute> routes(n * n);
  Load load;
  const auto each_pair = [&](const auto& visit) {
    for (std::size_t i = 0; i < n * n; ++i) {
      if (i / n != i % n && routes[i].way == CopyRoute::Way::none) visit(routes[i], job[i / n], job[i % n]);
    }
  };
  each_pair([&](CopyRoute& route, VertexId a, VertexId b) {
    if (const auto direct = finder.find(a, b, Via::direct)) {
      route = copy_route(topology, *direct, CopyRoute::Way::direct);
      count(route, load);
    }
  });
  Errors errors;
  each_pair([&](CopyRoute& route, VertexId a, VertexId b) {
    std::optional<CopyRoute> found;
    if (unlinked == UnlinkedRoute::two_hop) found = relayed_route(topology, finder, a, b, job, load);
    if (!found) {
      const auto host = finder.find(a, b, Via::host);
      if (host) {
        // Peers over PCIe copy into each other's memory; the host's holds nothing.
        const bool peers = finder.relation(a, b).peer_access;
        found = copy_route(topology, *host, peers ? CopyRoute::Way::direct : CopyRoute::Way::through_host);
        const BytesPerSecond alone = copy_rate(topology, *host, staged_copy(finder, a, b));
        if (alone < host->bandwidth) found->most = alone;
      }
    }
    if (found) {
      count(*found, load);
      route = std::move(*found);
    } else if (a < b) {
      errors.push_back({fmt::format("{}: {} and {} cannot reach each other", system.id,
                                    topology.vertices[static_cast<std::size_t>(a.value)].name,
                                    topology.vertices[static_cast<std::size_t>(b.value)].name)});
    }
  });
  if (!errors.empty()) return tl::make_unexpected(errors);
  return routes;
}

std::string describe_routes(const std::vector<CopyRoute>& routes) {
  using Way = CopyRoute::Way;
  constexpr std::array kWays{std::pair{Way::direct, "direct"}, std::pair{Way::relayed, "over a second GPU"},
                             std::pair{Way::through_host, "through the host"}};
  std::vector<std::string> parts;
  for (const auto& [way, words] : kWays) {
    const auto pairs = std::count_if(routes.begin(), routes.end(), [w = way](const CopyRoute& r) { return r.way == w; });
    if (pairs > 0) parts.push_back(fmt::format("{} {}", pairs, words));
  }
  return fmt::format("copies between {} pairs of GPUs", fmt::join(parts, ", "));
}

std::vector<IndirectCopy> indirect_copies(const System& system, const std::vector<int>& devices,
                                          const std::vector<CopyRoute>& routes) {
  const std::vector<VertexId> gpus = system.topology.gpus();
  const auto name = [&](std::size_t member) {
    const VertexId vertex = gpus[static_cast<std::size_t>(devices[member])];
    return system.topology.vertices[static_cast<std::size_t>(vertex.value)].name;
  };
  std::vector<IndirectCopy> copies;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const CopyRoute& route = routes[i];
    if (route.way == CopyRoute::Way::none || route.way == CopyRoute::Way::direct) continue;
    copies.push_back({name(i / devices.size()), name(i % devices.size()),
                      route.relay < 0 ? std::string() : name(static_cast<std::size_t>(route.relay))});
  }
  return copies;
}

void PeerCopies::prepare(StepBuilder& builder) {
  uses_.assign(routes_.size(), {});
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    for (const auto& hop : routes_[i].hops) uses_[i].push_back({builder.link(hop.link, hop.capacity)});
  }
}

engine::TaskId PeerCopies::copy(StepBuilder& builder, StepTask task, engine::StreamId stream, std::size_t pair, Bytes bytes,
                                std::span<const engine::TaskId> after) {
  return builder.add_flow(task, stream, bytes, routes_[pair].latency, uses_[pair], after, routes_[pair].most);
}

}  // namespace tbdsim
