#pragma once
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// How kernels beside the libraries' load what they read.
struct KernelLoads {
  bool compiles_kernels = false;  ///< they are a compiler's, which load several numbers at once
  int norm_columns = 0;  ///< elements of a column that layer norm's gradients load at once (`layer_norm_time`); 0: no limit
  bool vectorizes_16_bit = true;  ///< elementwise and row kernels load several 16-bit numbers at once (`moves_single_numbers`)
  bool casts_singly = false;      ///< kernels that change the width of elements load and store one at a time
};

/// Its keys of a [operators] table.
[[nodiscard]] KernelLoads read_kernel_loads(TomlTable& table);

}  // namespace tbdsim
