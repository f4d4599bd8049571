#include "model/hardware/cluster.hpp"

#include <algorithm>
#include <string_view>

namespace tbdsim {

int node_ports(const System& system, const Network& network) {
  if (!system.network) return 1;
  // A family of one maker's numbers its generations: "efa-1", "efa-2".
  const auto family = [](const Network& n) {
    const std::string_view transport = n.adapters.empty() ? n.transport : n.adapters;
    return transport.substr(0, transport.find('-'));
  };
  const bool all =
      system.network->id == network.id || (family(network) != "sockets" && family(*system.network) == family(network));
  return all ? std::max(1, system.nics) : 1;
}

int node_hosts(const System& system, int gpus) {
  const int of_host = std::max(1, system.gpu_count / system.hosts);
  return std::max(1, (gpus + of_host - 1) / of_host);
}

BytesPerSecond node_bandwidth(const System& system, const Network& network) {
  return node_ports(system, network) * network.achieved;
}

RingOptions default_ring_options(const Device& device) {
  RingOptions options;
  options.relay = device.chip.relays;
  return options;
}

Result<std::shared_ptr<const Architectures>> architectures_of(const Catalogue& catalogue) {
  if (catalogue.architectures) return catalogue.architectures;
  return Architectures::load(catalogue.root).map([](Architectures read) {
    return std::make_shared<const Architectures>(std::move(read));
  });
}

}  // namespace tbdsim
