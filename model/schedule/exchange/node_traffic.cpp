#include "model/schedule/exchange/node_traffic.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "model/hardware/copy_rate.hpp"

namespace tbdsim {
namespace {

/// Weight per directed bundle: (index, from a to b).
using Loads = std::map<std::pair<std::int32_t, bool>, double>;

class Traffic {
 public:
  explicit Traffic(const System& system) : system_(system), topology_(system.topology), finder_(system.topology) {}

  Result<void> copy(VertexId from, VertexId to, double weight) {
    auto route = finder_.find(from, to, Via::direct);
    if (!route) route = finder_.find(from, to, Via::host);
    if (!route)
      return fail(
          fmt::format("{}: {} cannot reach {}; add a [link] whose wires connect them, such as one of kind = \"cpu_link\" "
                      "between cpu0 and cpu1",
                      system_.id, topology_.vertices[index(from)].name, topology_.vertices[index(to)].name));
    const bool staged = staged_copy(finder_, from, to);
    for (std::size_t i = 0; i < route->links.size(); ++i) {
      const LinkBundle& bundle = topology_.links[static_cast<std::size_t>(route->links[i])];
      // A staged copy keeps its link busy for longer, by the ratio of the rates.
      const double factor = staged && bundle.staged && !bundle.peer_access ? bundle.achieved / *bundle.staged : 1.0;
      up_[{route->links[i], route->vertices[i] == bundle.a}] += factor * weight;
    }
    return {};
  }

  [[nodiscard]] NodeTraffic loads() const { return {collect(false), collect(true)}; }

 private:
  static std::size_t index(VertexId id) { return static_cast<std::size_t>(id.value); }

  [[nodiscard]] std::vector<LinkLoad> collect(bool reversed) const {
    std::vector<LinkLoad> result;
    for (const auto& [key, weight] : up_) {
      const LinkBundle& bundle = topology_.links[static_cast<std::size_t>(key.first)];
      const bool forward = key.second != reversed;
      result.push_back({fmt::format("{}{}", bundle.name, forward ? " >" : " <"), bundle.count * bundle.achieved, weight});
    }
    return result;
  }

  const System& system_;
  const Topology& topology_;
  RouteFinder finder_;
  Loads up_;
};

}  // namespace

Result<Network> pcie_network(const System& system, const std::vector<int>& devices) {
  const auto traffic = node_traffic(system, devices, Gather::on_host);
  if (!traffic) return tl::make_unexpected(traffic.error());
  Network network;
  network.id = kPcieNetwork;
  network.name = "PCIe of one machine";
  network.transport = "sockets";  // nothing but the copy itself
  network.source = system.wiring_source;
  for (const LinkLoad& load : traffic->up) {
    const BytesPerSecond rate = load.capacity / load.weight;
    if (network.bandwidth == BytesPerSecond(0.0) || rate < network.bandwidth) network.bandwidth = rate;
  }
  network.achieved = network.tcp = network.bandwidth;  // no protocol's share goes off
  return network;
}

Result<NodeTraffic> node_traffic(const System& system, const std::vector<int>& devices, Gather gather) {
  std::vector<VertexId> gpus, sockets;
  const std::vector<VertexId> all = system.topology.gpus();
  for (const int device : devices) gpus.push_back(all[static_cast<std::size_t>(device)]);
  for (std::size_t i = 0; i < system.topology.vertices.size(); ++i) {
    if (system.topology.vertices[i].kind == VertexKind::cpu) sockets.push_back(VertexId{static_cast<std::int32_t>(i)});
  }
  if (gather == Gather::on_device && gpus.size() > kMostCopyingPeers)
    return fail(fmt::format("{}: copies between every two of {} GPUs of a node are not modelled, at most {} GPUs", system.id,
                            gpus.size(), kMostCopyingPeers));
  Traffic traffic(system);
  const double homes = static_cast<double>(gpus.size());
  for (const VertexId home : gpus) {
    if (gather == Gather::on_device) {
      for (const VertexId other : gpus) {
        if (other == home) continue;
        if (auto done = traffic.copy(other, home, 1.0 / homes); !done) return tl::make_unexpected(done.error());
      }
    }
    const double share = (gather == Gather::on_device ? 1.0 / homes : 1.0) / static_cast<double>(sockets.size());
    for (const VertexId socket : sockets) {
      if (auto done = traffic.copy(home, socket, share); !done) return tl::make_unexpected(done.error());
    }
  }
  return traffic.loads();
}

}  // namespace tbdsim
