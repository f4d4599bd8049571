#pragma once
#include "model/input/toml_reader.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// A transformer from the [transformer] table of a network file: any encoder, decoder or encoder-decoder by its
/// hyper-parameters. `fused_attention`: as of `read_network`. Expects a root that has the table and of which nothing was read.
/// Errors: all problems of the file.
[[nodiscard]] Result<OpGraph> read_transformer(const TomlFile& file, TomlTable& root, bool fused_attention);

}  // namespace tbdsim
