#pragma once
#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// A loss of several kernels. Default: one fused kernel a pass.
struct LossKernels {
  Bytes forward{0.0}, backward{0.0};  ///< moved for each score; 0: by one fused kernel
  double operators = 0;               ///< in both passes, half of them forward
};

/// Its keys of a [parallel] table.
[[nodiscard]] LossKernels read_loss_kernels(TomlTable& table);

}  // namespace tbdsim
