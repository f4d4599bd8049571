#include "model/schedule/exchange/ring_all_reduce.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>

namespace tbdsim {
namespace {

// Start of one collective and cost of one step of the Simple protocol: fitted on the published all-reduce sweep of an
// 8-GPU V100 cube mesh, VIA-Research/vTrain, every second size of 8 GPUs (base 13.1 us, step 2.86 us).
constexpr Seconds kCallStart(13.1e-6), kStep(2.86e-6);
// A step over the network: NCCL's planning constant for a ring hop between nodes, Simple protocol
// (NVIDIA/nccl src/graph/tuning.cc, 14 us).
constexpr Seconds kNetworkStep(14e-6);

/// Directed use of a bundle: key (link index, from a to b).
using DirectedUses = std::map<std::pair<std::int32_t, bool>, double>;

void count_step(const Topology& topology, VertexId from, VertexId to, bool nvlink, double share, DirectedUses& uses) {
  const auto route = find_route(topology, from, to, nvlink ? Via::direct : Via::any);
  if (!route) return;
  for (std::size_t i = 0; i < route->links.size(); ++i) {
    const LinkBundle& bundle = topology.links[static_cast<std::size_t>(route->links[i])];
    uses[{route->links[i], route->vertices[i] == bundle.a}] += share;
  }
}

/// Rate at which one GPU reaches its host over PCIe, which is also its way to the NICs; nullopt without such a link.
std::optional<BytesPerSecond> host_slot(const Topology& topology, const std::vector<int>& devices) {
  const VertexId gpu = topology.gpus()[static_cast<std::size_t>(devices.front())];
  for (const LinkBundle& link : topology.links) {
    if (link.kind == LinkKind::pcie && (link.a == gpu || link.b == gpu)) return link.count * link.sm_copy;
  }
  return std::nullopt;
}

}  // namespace

Result<RingExchange> ring_exchange(const System& system, const std::vector<int>& devices, int nodes,
                                   const std::optional<Network>& network) {
  RingExchange exchange;
  const int local = static_cast<int>(devices.size());
  exchange.ranks = local * nodes;
  if (exchange.ranks <= 1) return exchange;
  const double p = exchange.ranks;
  const double volume = 2.0 * (p - 1.0) / p;
  double rings = 1.0;
  if (local > 1) {
    const std::vector<VertexId> all = system.topology.gpus();
    std::vector<VertexId> group;
    group.reserve(devices.size());
    for (const int device : devices) group.push_back(all[static_cast<std::size_t>(device)]);
    const RingSet set = find_rings(system.topology, group, default_ring_options(system.device));
    if (set.bandwidth <= BytesPerSecond(0.0))
      return fail(fmt::format("{}: GPUs {} cannot reach each other", system.id, fmt::join(devices, ",")));
    rings = std::max(set.effective_rings, 1.0);
    exchange.description = fmt::format("{} {} ring{} at {:.3g} GB/s", set.effective_rings, set.over_nvlink ? "NVLink" : "host",
                                       set.effective_rings == 1 ? "" : "s", set.bandwidth.base() / 1e9);
    if (set.over_nvlink && !set.relayed && set.effective_rings == static_cast<double>(set.rings.size()) &&
        set.rings.front().order.size() == group.size()) {
      DirectedUses uses;
      for (const Ring& ring : set.rings) {
        for (std::size_t i = 0; i < ring.order.size(); ++i)
          count_step(system.topology, ring.order[i], ring.order[(i + 1) % ring.order.size()], true, volume / rings, uses);
      }
      for (const auto& [key, weight] : uses) {
        const LinkBundle& bundle = system.topology.links[static_cast<std::size_t>(key.first)];
        exchange.uses.push_back(
            {fmt::format("{}{}", bundle.name, key.second ? " >" : " <"), bundle.count * bundle.sm_copy, weight, false});
      }
    } else {
      // Relayed, half-speed and host rings: the search states the rate they reach together.
      exchange.uses.push_back({set.over_nvlink ? "nvlink rings" : "host ring", rings * set.bandwidth, volume, false});
    }
  }
  double network_steps = 0.0;
  if (nodes > 1) {
    if (!network) return fail(fmt::format("{}: {} nodes need a network; name one with --network", system.id, nodes));
    // A network other than the machine's own comes with one port a node.
    const bool own = system.network && system.network->id == network->id;
    const int nics = own ? std::max(1, system.nics) : 1;
    BytesPerSecond capacity = nics * network->achieved;
    if (const auto slot = host_slot(system.topology, devices); slot) capacity = std::min(capacity, local * *slot);
    exchange.uses.push_back({"network", capacity, volume, true});
    network_steps = 2.0 * (nodes - 1.0);
    exchange.description += fmt::format("{}{} x {} between nodes", exchange.description.empty() ? "" : ", ", nics, network->id);
  }
  const double steps = 2.0 * (p - 1.0) - network_steps;
  exchange.latency = kCallStart + steps * kStep + network_steps * (kNetworkStep + (network ? network->latency : Seconds(0.0)));
  return exchange;
}

Seconds alone(const RingExchange& exchange, Bytes message) {
  Seconds slowest(0.0);
  for (const auto& use : exchange.uses) slowest = std::max(slowest, use.weight * message / use.capacity);
  return exchange.latency + slowest;
}

}  // namespace tbdsim
