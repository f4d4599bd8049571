#include "model/stack/operators/kernel_loads.hpp"

namespace tbdsim {

KernelLoads read_kernel_loads(TomlTable& table) {
  KernelLoads s;
  s.compiles_kernels = table.boolean_or("compiles_kernels", s.compiles_kernels);
  s.norm_columns.loads = static_cast<int>(table.integer_or("norm_column_loads", s.norm_columns.loads, 0, 65536));
  s.norm_columns.splits_rows = table.boolean_or("norm_splits_rows", s.norm_columns.splits_rows);
  s.vectorizes_16_bit = table.boolean_or("vectorizes_16_bit", s.vectorizes_16_bit);
  s.casts_singly = table.boolean_or("casts_singly", s.casts_singly);
  return s;
}

}  // namespace tbdsim
