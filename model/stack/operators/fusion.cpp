#include "model/stack/operators/fusion.hpp"

namespace tbdsim {

FusionSettings read_fusion(TomlTable& table) {
  FusionSettings s;
  s.batch_norm_relu = table.boolean_or("fuses_batch_norm_relu", s.batch_norm_relu);
  s.elementwise = table.boolean_or("fuses_elementwise", s.elementwise);
  s.reads_results = table.boolean_or("reads_results_back", s.reads_results);
  s.softmax = table.boolean_or("fuses_softmax", s.softmax);
  s.residual = table.boolean_or("fuses_residual", s.residual);
  s.linear_bias = table.boolean_or("fuses_linear_bias", s.linear_bias);
  s.separate_bias = table.boolean_or("separate_bias", s.separate_bias);
  s.library_bias = table.boolean_or("library_sums_bias", s.library_bias);
  s.composes_rows = table.boolean_or("composes_rows", s.composes_rows);
  s.composes_rotary = table.boolean_or("composes_rotary", s.composes_rows);
  return s;
}

}  // namespace tbdsim
