#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/schedule/collective/collective.hpp"

namespace tbdsim {

/// The rings of one node as loads of its links.
struct RingPaths {
  NcclFabric fabric = NcclFabric::host;
  double rings = 0;
  int channels = 0;          ///< rings that the library opens, before it doubles them
  BytesPerSecond bandwidth;  ///< of all rings together, alone on their links
  bool relayed = false;
  std::vector<CollectiveLink> links;  ///< every direction of a bundle that a ring crosses
  std::vector<LinkWeight> weights;    ///< bytes on each for a byte around all rings together
  std::string description;            ///< "6 NVLink rings at 22.8 GB/s"
};

/// Finds the rings of `gpus` and what they put on each link: NVLink directly or through switches, over a relay, or over
/// PCIe and host. No links for a single GPU.
/// Errors: GPUs that cannot reach each other; `who` names them.
[[nodiscard]] Result<RingPaths> ring_paths(const Topology& topology, const std::vector<VertexId>& gpus,
                                           const RingOptions& options, const std::string& who);

/// NCCL 1: one ring in the order of the devices, whose steps go over the links of each pair, else over PCIe and host; the
/// slowest step rules. No links for a single GPU. Errors: as `ring_paths`.
[[nodiscard]] Result<RingPaths> single_ring_path(const Topology& topology, const std::vector<VertexId>& gpus,
                                                 const RingOptions& options, const std::string& who);

/// The options for what this release may do on a device.
[[nodiscard]] RingOptions ring_options(const Device& device, const NcclLibrary& library);

/// Adds `share` bytes on every directed link of a route.
class DirectedLoads {
 public:
  explicit DirectedLoads(const Topology& topology) : topology_(topology), loads_(2 * topology.links.size(), 0.0) {}
  void add(const Route& route, double share);
  void add(std::int32_t link, bool from_a, double share);
  /// Loaded directions in the order of the topology's links, at the rate of a copy kernel.
  void write(std::vector<CollectiveLink>& links, std::vector<LinkWeight>& weights) const;

 private:
  const Topology& topology_;
  std::vector<double> loads_;  // two directions of each link: to a, to b
};

}  // namespace tbdsim
