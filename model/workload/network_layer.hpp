#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/input/toml_reader.hpp"
#include "model/workload/graph_builder.hpp"

namespace tbdsim {

/// How code computes attention: `framework` calls the framework's one kernel, `separate` runs products and a softmax.
enum class AttentionCode { framework, separate };

/// One [[layer]] of a network file, read but not yet connected.
struct LayerText {
  TomlTable table;
  std::string name;
  std::optional<OpKind> kind;  ///< empty: unknown operator, already reported
  OpAttributes attributes;
  bool inplace = false;
  bool unused = false;                       ///< nothing uses it, and that is meant
  Shape shape{};                             ///< of a further input of the network
  std::optional<AttentionCode> attention{};  ///< the code that the layer is part of; empty: of both
  GraphBuilder::Weights weights = GraphBuilder::Weights::own;
  std::string input_key{};  ///< "input", "inputs"; empty when the layer follows the one before
  std::vector<std::string> input_names{};
};

/// Reads a layer's own keys; problems go to the table's file. Keys: network_format.cpp.
[[nodiscard]] LayerText read_layer(TomlTable table);

/// Dimensions of one sample: one to three, each of 1 to 1,000,000, and not more numbers in all than 1e12. Empty after
/// a problem.
[[nodiscard]] Shape read_dimensions(TomlTable& table, const std::string& key);

/// What a code of attention is called in a file.
[[nodiscard]] std::string_view attention_word(AttentionCode code);

/// The code that the key `attention` names; empty where the key is missing.
[[nodiscard]] std::optional<AttentionCode> read_attention(TomlTable& table);

/// What an activation is called in a file.
[[nodiscard]] std::string_view activation_word(ActivationKind kind);

/// What a kind of pool is called in a file.
[[nodiscard]] std::string_view pool_word(PoolKind kind);

/// The activation that a key names.
[[nodiscard]] ActivationKind read_activation(TomlTable& table, const std::string& key, const std::string& fallback);

}  // namespace tbdsim
