#pragma once
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// How PyTorch sums the gradients of a norm's scale and shift over rows.
struct NormColumns {
  int loads = 0;             ///< elements of a column that are loaded at once (`column_sum_clocks`); 0: no limit
  bool splits_rows = false;  ///< above 65,536 rows, columns that keep less than half of the device busy are shared by many blocks
};

/// How kernels beside the libraries' load what they read.
struct KernelLoads {
  bool compiles_kernels = false;  ///< they are a compiler's, which load several numbers at once
  NormColumns norm_columns;
  bool vectorizes_16_bit = true;  ///< elementwise and row kernels load several 16-bit numbers at once (`moves_single_numbers`)
  bool casts_singly = false;      ///< kernels that change the width of elements load and store one at a time
};

/// Its keys of a [operators] table.
[[nodiscard]] KernelLoads read_kernel_loads(TomlTable& table);

}  // namespace tbdsim
