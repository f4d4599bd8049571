#pragma once
#include <string>

#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// A network as a file that `read_network` reads back as the same graph: every layer with its inputs and what its keys leave to
/// a default left out. Layers of one name get a number.
/// Ignores arrays that an imported operator trains by itself (`by_bytes`): no file can state them.
[[nodiscard]] std::string network_toml(const OpGraph& graph);

}  // namespace tbdsim
