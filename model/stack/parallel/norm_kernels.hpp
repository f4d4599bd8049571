#pragma once
#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// How a framework runs the norms of a layer. Default: one kernel a pass on the numbers as they travel.
struct NormKernels {
  bool again = false;                 ///< once more for backward, in layers that are not computed again
  Bytes forward{0.0}, backward{0.0};  ///< moved for each number besides: casts to fp32 and back, and wider reads and writes
};

/// Its keys of a [parallel] table.
[[nodiscard]] NormKernels read_norm_kernels(TomlTable& table);

}  // namespace tbdsim
