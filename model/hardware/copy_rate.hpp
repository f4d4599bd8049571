#pragma once
#include <optional>

#include "model/hardware/route_finder.hpp"

namespace tbdsim {

/// GPUs of one node between every two of which copies are modelled; their number grows with the square.
inline constexpr std::size_t kMostCopyingPeers = 256;

/// Whether a copy goes from GPU to host memory and from there to the other GPU: both ends are GPUs, and no peers.
[[nodiscard]] bool staged_copy(RouteFinder& finder, VertexId from, VertexId to);

/// What a copy over `route` reaches alone: its narrowest link, and where the copy is `staged` no more than the staged rate of
/// the links that refuse peers. Between sockets whose GPUs are peers below each the CPU link says what a staged copy reaches.
[[nodiscard]] BytesPerSecond copy_rate(const Topology& topology, const Route& route, bool staged);

/// Rate at which one GPU reaches its host over PCIe, which is also its way to the NICs; nullopt without such a link.
[[nodiscard]] std::optional<BytesPerSecond> host_slot(const Topology& topology, VertexId gpu);

}  // namespace tbdsim
