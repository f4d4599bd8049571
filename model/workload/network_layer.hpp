#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/input/toml_reader.hpp"
#include "model/workload/op.hpp"

namespace tbdsim {

/// One [[layer]] of a network file, read but not yet connected.
struct LayerText {
  TomlTable table;
  std::string name;
  std::optional<OpKind> kind;  ///< empty: unknown operator, already reported
  OpAttributes attributes;
  bool inplace = false;
  std::string input_key;  ///< "input", "inputs"; empty when the layer follows the one before
  std::vector<std::string> input_names;
};

/// Reads a layer's own keys; problems go to the table's file. Keys: network_format.cpp.
[[nodiscard]] LayerText read_layer(TomlTable table);

/// The activation that a key names.
[[nodiscard]] ActivationKind read_activation(TomlTable& table, const std::string& key, const std::string& fallback);

}  // namespace tbdsim
