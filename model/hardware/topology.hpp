#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/units/quantity.hpp"

namespace tbdsim {

enum class VertexKind { gpu, cpu, pcie_switch, nvswitch, nic };
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
  std::string name;  ///< "gpu0-gpu3"
  std::string type;  ///< the [link.NAME] table that describes it, "nvlink2"
  LinkKind kind = LinkKind::nvlink;
  VertexId a, b;
  int count = 1;
  BytesPerSecond bandwidth;              ///< of one link, one direction, line rate
  BytesPerSecond achieved;               ///< of one link, one direction, as a copy engine reaches it
  BytesPerSecond sm_copy;                ///< of one link, one direction, as a copy kernel (NCCL) reaches it
  Seconds latency;                       ///< share of a peer copy's start; zero: not known
  bool peer_access = false;              ///< PCIe, CPU links: GPUs may read each other across it
  std::optional<BytesPerSecond> staged;  ///< PCIe: GPU to GPU through host memory, where peer access is refused
  std::string source, achieved_source, sm_copy_source, staged_source, latency_source;
};
[[nodiscard]] std::string_view name(VertexKind kind);
[[nodiscard]] std::string_view name(LinkKind kind);
[[nodiscard]] std::optional<LinkKind> parse_link_kind(std::string_view text);

/// Vertices and links of one node. A value; `RouteFinder` indexes it where routes are many.
struct Topology {
  std::vector<Vertex> vertices;
  std::vector<LinkBundle> links;
  [[nodiscard]] std::vector<VertexId> gpus() const;  ///< by index in name
  [[nodiscard]] std::optional<VertexId> find(std::string_view name) const;
};

/// One way from a to b.
struct Route {
  std::vector<VertexId> vertices;   ///< a first, b last
  std::vector<std::int32_t> links;  ///< indices into Topology::links
  BytesPerSecond bandwidth;         ///< of the narrowest bundle (count x achieved)
  Seconds latency;
  int hops() const { return static_cast<int>(links.size()); }
};

/// How two GPUs are related, as `nvidia-smi topo -m` and CUDA's peer access tell it.
struct PairRelation {
  int nvlinks = 0;               ///< direct NVLinks
  std::string pcie;              ///< PIX same switch, PHB same CPU, SYS across CPUs, empty: unknown
  bool peer_access = false;      ///< directly linked, through an NVSwitch, or PCIe peers (as a rule below one CPU)
  int hops = 0;                  ///< NVLink hops; 0: no way over NVLink
  std::vector<VertexId> relays;  ///< GPUs linked to both, when not linked directly
  friend bool operator==(const PairRelation&, const PairRelation&) = default;
};

[[nodiscard]] PairRelation relation(const Topology& topology, VertexId a, VertexId b);
/// Widest of the shortest routes over every kind of link; nullopt if the two cannot reach each other.
[[nodiscard]] std::optional<Route> find_route(const Topology& topology, VertexId a, VertexId b);

/// Which links a route may take: any; one direct GPU link (or switch); through host and PCIe, never through another
/// GPU; GPU links only, over relays where needed (the two-hop copy of MXNet's DGX-1 container).
enum class Via { any, direct, host, relay };
[[nodiscard]] std::optional<Route> find_route(const Topology& topology, VertexId a, VertexId b, Via via);

/// `relation` of every ordered pair of GPUs, row by row; the diagonal is empty.
[[nodiscard]] std::vector<std::vector<PairRelation>> pair_matrix(const Topology& topology);
/// Ordered pairs with peer access.
[[nodiscard]] int peer_pairs(const Topology& topology);

/// A directed ring of GPUs. Step i goes from order[i] to the next one (the last to the first), through via[i] where
/// that is set: a GPU of the group that relays because the two are not linked (NCCL 2.8 and newer).
struct Ring {
  std::vector<VertexId> order;
  std::vector<std::optional<VertexId>> via;  ///< empty when no step is relayed
};

/// What the library may do when it looks for rings.
struct RingOptions {
  bool relay = true;       ///< one relayed step per ring, tried where no NVLink ring exists. NCCL 2.8 and newer
  bool half_speed = true;  ///< rings of half the rate, two to a link, for groups of up to 4 GPUs (seen on DGX-1P)
};

/// Rings that NCCL's search finds for a group of GPUs: the largest set of directed Hamiltonian cycles that uses each
/// NVLink direction at most once, found depth first from the first GPU, neighbours in rank order (NCCL 2.3.5).
/// Groups on one NVSwitch get one ring per port link;
/// a mesh of more than 16 GPUs is not searched. Without any such ring, one from GPU to nearest GPU over PCIe and
/// host, whose rate is that of its slowest step. No rings for fewer than two GPUs.
struct RingSet {
  std::vector<Ring> rings;
  BytesPerSecond bandwidth;            ///< per ring and direction as an SM copy reaches it
  bool over_nvlink = false;            ///< false: over PCIe and host
  bool relayed = false;                ///< some step passes through a relay
  std::vector<Ring> half_speed_rings;  ///< those that run instead of `rings` where that carries more; twice as many
  double effective_rings = 0;          ///< may exceed rings.size() where NCCL runs half-speed rings (DGX-1P, 4 GPUs)
};
[[nodiscard]] RingSet find_rings(const Topology& topology, const std::vector<VertexId>& group, const RingOptions& options = {});

}  // namespace tbdsim
