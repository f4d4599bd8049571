// What fabric.hpp declares of a whole system.
#include "model/hardware/cluster.hpp"

namespace tbdsim {

Fabric fabric_of(const System& system, const Network& network) {
  Fabric fabric;
  fabric.node_ranks = system.gpu_count;
  const int ports = node_ports(system, network);
  if (system.tiers.empty()) {
    fabric.levels.push_back(
        {network.id, std::nullopt, ports, network.achieved, node_bandwidth(system, network), network.latency, false});
    return fabric;
  }
  double taper = 1.0;  // of the adapters, from the node to here
  for (const FabricTier& tier : system.tiers) {
    const bool own = tier.bandwidth.has_value();
    if (!own) taper *= tier.oversubscription;
    const int count = own ? tier.ports : ports;
    const BytesPerSecond port = tier.bandwidth.value_or(network.achieved);
    fabric.levels.push_back({tier.name, tier.nodes, count, port, count * port / (own ? tier.oversubscription : taper),
                             own ? tier.latency : network.latency + tier.latency, tier.rails});
  }
  return fabric;
}

std::optional<int> most_nodes(const System& system) { return system.tiers.empty() ? std::nullopt : system.tiers.back().nodes; }

}  // namespace tbdsim
