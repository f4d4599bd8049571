#pragma once
#include "model/schedule/collective/ring_paths.hpp"

namespace tbdsim {

/// Replaces the rings' links by those of all ordered pairs, of send and receive by those of each GPU to the next: one byte of
/// each to each other, directly where NVLink or a switch joins them, over a relay where the library may, else over PCIe and
/// host.
void load_pairs(const Topology& topology, const std::vector<VertexId>& gpus, CollectiveKind kind, const RingOptions& options,
                RingPaths& paths);

}  // namespace tbdsim
