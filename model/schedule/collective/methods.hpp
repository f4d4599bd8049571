#pragma once
#include "model/schedule/collective/ring_paths.hpp"

namespace tbdsim {

/// What the methods of a plan are built from.
struct MethodSetting {
  const NcclLibrary& library;
  const Device& device;
  CollectiveKind kind = CollectiveKind::all_reduce;
  int local = 1, nodes = 1;
  RingPaths rings;                  ///< inside a node
  Seconds base;                     ///< start of a call
  BytesPerSecond node_network;      ///< all NICs of a node, one direction
  NcclTransport transport;          ///< between nodes
  BytesPerSecond port;              ///< line rate of a GPU's links into its switch; 0: none
  int port_links = 0;               ///< of them
  std::optional<Seconds> launched;  ///< start of a call, where the way of launching is known

  [[nodiscard]] double ranks() const { return static_cast<double>(local) * nodes; }
};

/// Every way in which the library may run the collective. `network` is the plan's link between nodes.
[[nodiscard]] std::vector<CollectiveMethod> ring_methods(const MethodSetting& setting, std::optional<std::int32_t> network);
/// All-to-all: every rank exchanges its part with every other. Send and receive: every rank hands a message to the next.
/// Expects the paths of pairs in `rings`.
[[nodiscard]] CollectiveMethod pairwise_method(const MethodSetting& setting, std::optional<std::int32_t> network);
[[nodiscard]] std::vector<CollectiveMethod> tree_methods(const MethodSetting& setting, std::int32_t network);
[[nodiscard]] std::vector<CollectiveMethod> switch_methods(const MethodSetting& setting, std::optional<std::int32_t> network);

/// Inside one node behind a switch, since NCCL 2.18; empty where the older form holds.
[[nodiscard]] std::vector<CollectiveMethod> switched_methods(const MethodSetting& setting);

}  // namespace tbdsim
