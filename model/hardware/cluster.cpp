#include "model/hardware/cluster.hpp"

#include <algorithm>
#include <string_view>

namespace tbdsim {

int node_ports(const System& system, const Network& network) {
  if (!system.network) return 1;
  // A family of one maker's numbers its generations: "efa-1", "efa-2".
  const auto family = [](const Network& n) { return std::string_view(n.transport).substr(0, n.transport.find('-')); };
  const bool all =
      system.network->id == network.id || (family(network) != "sockets" && family(*system.network) == family(network));
  return all ? std::max(1, system.nics) : 1;
}

BytesPerSecond node_bandwidth(const System& system, const Network& network) {
  return node_ports(system, network) * network.achieved;
}

RingOptions default_ring_options(const Device& device) {
  constexpr std::string_view kFirstWithRelays = "7.0";  // Volta
  RingOptions options;
  options.relay = device.compute_capability.size() > kFirstWithRelays.size() || device.compute_capability >= kFirstWithRelays;
  return options;
}

}  // namespace tbdsim
