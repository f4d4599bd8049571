#pragma once
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// How often an operator's kernels read or write a whole tensor, all that it is made of together.
struct OperatorPasses {
  double batch_norm_forward = 3, batch_norm_backward = 5;
  double dropout_forward = 3, dropout_backward = 3;
  double softmax_backward = 3;
};

/// Its keys of a [operators] table.
[[nodiscard]] OperatorPasses read_operator_passes(TomlTable& table);

}  // namespace tbdsim
