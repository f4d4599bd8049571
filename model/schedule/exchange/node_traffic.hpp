#pragma once
#include <string>
#include <vector>

#include "model/hardware/cluster.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

/// Bytes over one direction of a bundle of links per byte of an array.
struct LinkLoad {
  std::string link;
  BytesPerSecond capacity;
  double weight = 0;
};

/// What an array costs the links of one node on its way from the GPUs to the host and back. The array's home moves from
/// GPU to GPU with the array, so weights are means over homes: one flow stands for any array.
struct NodeTraffic {
  std::vector<LinkLoad> up, down;
};

enum class Gather {
  on_device,  ///< all copies meet on a GPU, which sends one to the host
  on_host,    ///< every GPU sends its own to the host
};

/// The link between a node's GPU and its host as a network, on which one machine emulates two: as fast as copies of pinned
/// memory. Errors: as `node_traffic`.
inline constexpr const char* kPcieNetwork = "pcie";
[[nodiscard]] Result<Network> pcie_network(const System& system, const std::vector<int>& devices);

/// Copies between GPUs go over their direct link where there is one, else through the host; host memory is that of both
/// sockets alike. Errors: a GPU that cannot reach the host or another GPU.
[[nodiscard]] Result<NodeTraffic> node_traffic(const System& system, const std::vector<int>& devices, Gather gather);

}  // namespace tbdsim
