#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/units/quantity.hpp"

namespace tbdsim {

enum class VertexKind { gpu, cpu, pcie_switch, nvswitch, nic, network_switch, storage };
enum class LinkKind { nvlink, xgmi, pcie, cpu_link, network, storage, internal };

struct VertexId {
  std::int32_t value = -1;
  auto operator<=>(const VertexId&) const = default;
};

struct Vertex {
  std::string name;  ///< "gpu0", "cpu1", "pcie_switch2", "nic0"
  VertexKind kind = VertexKind::gpu;
};

/// A bundle of equal physical links between two vertices, usable in both directions at once.
struct LinkBundle {
  std::string name;   ///< "gpu0-gpu3"
  std::string type;   ///< the [link.NAME] table that describes it, "nvlink2"
  LinkKind kind = LinkKind::nvlink;
  VertexId a, b;
  int count = 1;
  BytesPerSecond bandwidth;           ///< of one link, one direction, line rate
  BytesPerSecond achieved;            ///< of one link, one direction, as a copy engine reaches it
  Seconds latency;
  std::string source;
};

/// Vertices and links of one node or of a whole cluster. A value; the Boost.Graph view is built where needed.
struct Topology {
  std::vector<Vertex> vertices;
  std::vector<LinkBundle> links;
  [[nodiscard]] std::vector<VertexId> gpus() const;  ///< by index in name
  [[nodiscard]] std::optional<VertexId> find(std::string_view name) const;
};

/// One way from a to b.
struct Route {
  std::vector<VertexId> vertices;        ///< a first, b last
  std::vector<std::int32_t> links;       ///< indices into Topology::links
  BytesPerSecond bandwidth;              ///< of the narrowest bundle (count x achieved)
  Seconds latency;
  int hops() const { return static_cast<int>(links.size()); }
};

/// How two GPUs are related, as `nvidia-smi topo -m` and CUDA's peer access tell it.
struct PairRelation {
  int nvlinks = 0;              ///< direct NVLinks
  std::string pcie;             ///< PIX same switch, PHB same CPU, SYS across CPUs, empty: unknown
  bool peer_access = false;     ///< directly linked (or through an NVSwitch)
  int hops = 0;                 ///< NVLink hops; 0: no way over NVLink
  std::vector<VertexId> relays; ///< GPUs linked to both, when not linked directly
};

[[nodiscard]] PairRelation relation(const Topology& topology, VertexId a, VertexId b);
/// Widest of the shortest routes over every kind of link; nullopt if the two cannot reach each other.
[[nodiscard]] std::optional<Route> find_route(const Topology& topology, VertexId a, VertexId b);

/// A directed ring of GPUs and what each step crosses.
struct Ring {
  std::vector<VertexId> order;
};

/// Rings that NCCL's search finds over NVLink for a group of GPUs: the largest set of directed Hamiltonian cycles
/// that uses each NVLink direction at most once, found depth first from the first GPU, neighbours in rank order
/// (NCCL 2.3.5). Switched groups get one ring per port link. Empty: no NVLink ring exists.
struct RingSet {
  std::vector<Ring> rings;
  BytesPerSecond bandwidth;   ///< per ring and direction as an SM copy reaches it
  bool over_nvlink = false;
  double effective_rings = 0; ///< may exceed rings.size() where NCCL runs half-speed rings (DGX-1P, 4 GPUs)
};
[[nodiscard]] RingSet find_rings(const Topology& topology, const std::vector<VertexId>& group);

}  // namespace tbdsim
