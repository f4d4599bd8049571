#pragma once
#include <optional>

#include "model/hardware/topology.hpp"

namespace tbdsim {

/// Whether a copy goes from GPU to host memory and from there to the other GPU: both ends are GPUs, and no peers.
[[nodiscard]] bool staged_copy(const Topology& topology, VertexId from, VertexId to);

/// What a copy over `route` reaches alone: its narrowest link, and where the copy is `staged` no more than the staged rate of
/// the links that refuse peers. Between sockets whose GPUs are peers below each the CPU link says what a staged copy reaches.
[[nodiscard]] BytesPerSecond copy_rate(const Topology& topology, const Route& route, bool staged);

/// Rate at which one GPU reaches its host over PCIe, which is also its way to the NICs; nullopt without such a link.
[[nodiscard]] std::optional<BytesPerSecond> host_slot(const Topology& topology, VertexId gpu);

}  // namespace tbdsim
