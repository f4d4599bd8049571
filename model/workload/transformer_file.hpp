#pragma once
#include <span>

#include "model/input/file_format.hpp"
#include "model/input/toml_reader.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// The keys of the [transformer] table, for the page of file formats.
[[nodiscard]] std::span<const KeyMeaning> transformer_keys();

/// A transformer from the [transformer] table of a network file: any encoder, decoder or encoder-decoder by its
/// hyper-parameters. `fused_attention`: as of `read_network`. Expects a root that has the table and of which nothing was read.
/// Errors: all problems of the file.
[[nodiscard]] Result<OpGraph> read_transformer(const TomlFile& file, TomlTable& root, bool fused_attention);

}  // namespace tbdsim
