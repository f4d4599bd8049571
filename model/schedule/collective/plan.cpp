#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/schedule/collective/collective.hpp"

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

/// Bytes over each hop of a ring per byte of message, and steps of one message's way.
struct RingWork {
  double volume = 0, rounds = 0;
};
RingWork ring_work(CollectiveKind kind, double ranks) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return {2.0 * (ranks - 1.0) / ranks, 2.0};
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all:
      return {(ranks - 1.0) / ranks, 1.0};
    case CollectiveKind::reduce:
    case CollectiveKind::broadcast:
      return {1.0, 1.0};
  }
  return {};
}

void add_use(CollectivePlan& plan, CollectiveLink link, double weight) {
  plan.methods.front().weights.push_back({static_cast<std::int32_t>(plan.links.size()), weight});
  plan.links.push_back(std::move(link));
}

}  // namespace

Result<CollectivePlan> plan_collective(const System& system, const CollectiveGroup& group, CollectiveKind kind,
                                       const NcclLibrary&) {
  CollectivePlan plan;
  plan.kind = kind;
  const int local = static_cast<int>(group.devices.size());
  plan.ranks = local * group.nodes;
  if (plan.ranks <= 1) return plan;
  plan.methods.emplace_back();
  const double p = plan.ranks;
  const RingWork work = ring_work(kind, p);
  double rings = 1.0;
  if (local > 1) {
    const std::vector<VertexId> all = system.topology.gpus();
    std::vector<VertexId> gpus;
    gpus.reserve(group.devices.size());
    for (const int device : group.devices) gpus.push_back(all[static_cast<std::size_t>(device)]);
    const RingSet set = find_rings(system.topology, gpus, default_ring_options(system.device));
    if (set.bandwidth <= BytesPerSecond(0.0))
      return fail(fmt::format("{}: GPUs {} cannot reach each other", system.id, fmt::join(group.devices, ",")));
    rings = std::max(set.effective_rings, 1.0);
    plan.channels = static_cast<int>(2 * set.rings.size());
    plan.description = fmt::format("{} {} ring{} at {:.3g} GB/s", set.effective_rings, set.over_nvlink ? "NVLink" : "host",
                                   set.effective_rings == 1 ? "" : "s", set.bandwidth.base() / 1e9);
    if (set.over_nvlink && !set.relayed && set.effective_rings == static_cast<double>(set.rings.size()) &&
        set.rings.front().order.size() == gpus.size()) {
      DirectedUses uses;
      for (const Ring& ring : set.rings) {
        for (std::size_t i = 0; i < ring.order.size(); ++i)
          count_step(system.topology, ring.order[i], ring.order[(i + 1) % ring.order.size()], true, work.volume / rings, uses);
      }
      for (const auto& [key, weight] : uses) {
        const LinkBundle& bundle = system.topology.links[static_cast<std::size_t>(key.first)];
        add_use(plan, {fmt::format("{}{}", bundle.name, key.second ? " >" : " <"), bundle.count * bundle.sm_copy}, weight);
      }
    } else {
      // Relayed, half-speed and host rings: the search states the rate they reach together.
      add_use(plan, {set.over_nvlink ? "nvlink rings" : "host ring", rings * set.bandwidth}, work.volume);
    }
  }
  double network_steps = 0.0;
  if (group.nodes > 1) {
    if (!group.network) return fail(fmt::format("{}: {} nodes need a network; name one with --network", system.id, group.nodes));
    const Network& network = *group.network;
    // A network other than the machine's own comes with one port a node.
    const bool own = system.network && system.network->id == network.id;
    const int nics = own ? std::max(1, system.nics) : 1;
    BytesPerSecond capacity = nics * network.achieved;
    if (const auto slot = host_slot(system.topology, group.devices); slot) capacity = std::min(capacity, local * *slot);
    add_use(plan, {"network", capacity, true}, work.volume);
    network_steps = work.rounds * (group.nodes - 1.0);
    plan.description += fmt::format("{}{} x {} between nodes", plan.description.empty() ? "" : ", ", nics, network.id);
  }
  const double steps = work.rounds * (p - 1.0) - network_steps;
  plan.methods.front().start =
      kCallStart + steps * kStep + network_steps * (kNetworkStep + (group.network ? group.network->latency : Seconds(0.0)));
  return plan;
}

}  // namespace tbdsim
