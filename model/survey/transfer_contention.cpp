#include "model/survey/transfer_contention.hpp"

#include <algorithm>

#include "model/engine/shared_link.hpp"
#include "model/engine/timeline.hpp"
#include "model/hardware/copy_rate.hpp"

namespace tbdsim {
namespace {

using engine::LinkId;
using engine::LinkUse;

/// The way a copy takes by itself, and what it reaches alone.
TransferShare alone(RouteFinder& finder, const TransferEnds& ends) {
  TransferShare share;
  const auto [from, to] = ends;
  auto route = finder.find(from, to, Via::direct);
  if (!route) route = finder.find(from, to, Via::host);
  if (!route) return share;
  share.staged = staged_copy(finder, from, to);
  share.alone = copy_rate(finder.topology(), *route, share.staged);
  share.route = std::move(*route);
  return share;
}

/// Both directions of every link of the topology, to b and to a.
std::vector<LinkUse> uses_of(const Topology& topology, const Route& route) {
  std::vector<LinkUse> uses;
  for (std::size_t k = 0; k < route.links.size(); ++k) {
    const std::int32_t link = route.links[k];
    const bool forward = topology.links[static_cast<std::size_t>(link)].a == route.vertices[k];
    uses.push_back({LinkId{2 * link + (forward ? 1 : 0)}, 1.0});
  }
  return uses;
}

}  // namespace

std::vector<TransferShare> share_links(const Topology& topology, std::span<const TransferEnds> transfers, Bytes bytes) {
  std::vector<TransferShare> shares;
  RouteFinder finder(topology);
  for (const TransferEnds& ends : transfers) shares.push_back(alone(finder, ends));
  engine::TaskGraph graph;
  std::vector<BytesPerSecond> capacities;
  for (const LinkBundle& link : topology.links) {
    for (int direction = 0; direction < 2; ++direction) {
      capacities.push_back(link.count * link.achieved);
      (void)graph.add_link(link.name, capacities.back());
    }
  }
  std::vector<TransferShare*> moving;
  std::vector<std::vector<LinkUse>> uses;
  for (TransferShare& share : shares) {
    if (share.route.links.empty()) continue;
    moving.push_back(&share);
    uses.push_back(uses_of(topology, share.route));
    graph.add_flow({-1}, bytes, SimTime::from(share.route.latency), uses.back(), {}, -1, share.alone);
  }
  std::vector<engine::FlowRoute> flows;
  for (std::size_t f = 0; f < moving.size(); ++f) flows.push_back({uses[f], moving[f]->alone});
  engine::SharedLinks shared(capacities, flows);
  for (std::size_t f = 0; f < flows.size(); ++f) shared.start(static_cast<std::int32_t>(f));
  shared.update();
  const engine::Timeline timeline = engine::simulate(graph);
  for (std::size_t f = 0; f < moving.size(); ++f) {
    moving[f]->contended = shared.rate(static_cast<std::int32_t>(f));
    moving[f]->time = timeline.end[f].seconds();
  }
  return shares;
}

}  // namespace tbdsim
