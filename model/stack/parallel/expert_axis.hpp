#pragma once
#include <string_view>

#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// How rows of experts' layers reach other nodes.
enum class ExpertDispatch {
  rows,           ///< a copy for each expert that a token goes to
  once_per_node,  ///< one copy for each node, which hands it to its experts over its own links (DeepEP)
};

[[nodiscard]] std::string_view name(ExpertDispatch dispatch);  ///< "once-per-node"

/// How a framework runs what the expert axis divides.
struct ExpertAxisSettings {
  double spread = 1;  ///< of the experts' popularity over that of tokens that choose alike; 0: balance is forced
  ExpertDispatch dispatch = ExpertDispatch::rows;
  double capacity = 0;  ///< rows that an expert takes, over the mean of all; tokens beyond are dropped; 0: none is
};

/// Its keys of a [parallel] table.
[[nodiscard]] ExpertAxisSettings read_expert_axis(TomlTable& table);

}  // namespace tbdsim
