#pragma once
#include <string>

#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// A network as a file that `read_network` reads back as the same graph: every layer with its inputs and what its keys leave to
/// a default left out. Layers of one name get a number.
/// Ignores arrays that an imported operator trains by itself (`by_bytes`): no file can state them.
[[nodiscard]] std::string network_toml(const OpGraph& graph);

/// One file for a network whose graph depends on whether the framework has attention in one kernel: `read_network` without
/// `fused_attention` reads `separate`, with it `framework`. Layers of one of the two alone say so in the key `attention`.
/// Expects graphs that differ in their layers only.
[[nodiscard]] std::string network_toml(const OpGraph& separate, const OpGraph& framework);

}  // namespace tbdsim
