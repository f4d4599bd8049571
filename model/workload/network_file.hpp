#pragma once
#include <string>

#include "model/input/toml_reader.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// Reads a network that a user wrote in TOML (keys: hardware and network reference in model/workload/README.md).
/// Layers name their inputs; without one, the previous layer. Errors, all at once: unknown kind or key, unknown
/// input name, a cycle, repeated names, shapes that do not fit, a layer that nothing uses.
/// `fused_attention`: the framework has attention in one kernel, which a [transformer] calls unless it says otherwise. Layers
/// that name the other code of attention are left out; of these only their own keys are checked.
[[nodiscard]] Result<OpGraph> read_network(TomlFile file, bool fused_attention = false);

}  // namespace tbdsim
