#include "model/stack/operator_settings.hpp"

namespace tbdsim {

OperatorSettings read_operator_settings(TomlTable table) {
  OperatorSettings s;
  s.fusion = read_fusion(table);
  s.loads = read_kernel_loads(table);
  s.passes = read_operator_passes(table);
  s.order = read_tensor_order(table);
  s.amp = read_amp_settings(table);
  s.fp8 = read_fp8_settings(table, s.loads.compiles_kernels);
  s.attention = read_attention_settings(table);
  s.recurrent = read_recurrent_settings(table);
  s.inplace_activation = table.boolean_or("inplace_activation", s.inplace_activation);
  (void)table.text("source");
  table.finish();
  return s;
}

}  // namespace tbdsim
