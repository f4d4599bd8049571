#include "model/stack/operator_settings.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "model/input/known_word.hpp"

namespace tbdsim {
namespace {

void read_attention_kernel(TomlTable& table, OperatorSettings& settings) {
  if (!table.has("attention_kernel")) return;
  const std::string name = table.text("attention_kernel");
  const auto kernel = find_attention_kernel(name);
  if (!kernel) {
    std::vector<std::string> known;
    for (const AttentionKernelInfo& row : attention_kernels()) known.emplace_back(row.name);
    table.problem("attention_kernel", fmt::format("unknown attention kernel \"{}\"; known are {}", name, fmt::join(known, ", ")));
  } else if (!settings.fused_attention) {
    table.problem("attention_kernel", "has no effect without fused_attention = true");
  } else {
    settings.attention = *kernel;
  }
}

void read_fp8_recipe(TomlTable& table, OperatorSettings& settings) {
  settings.compiles_casts = table.boolean_or("compiles_casts", settings.compiles_kernels);
  if (table.has("fp8_recipe")) {
    settings.fp8_recipe = read_row(table, "fp8_recipe", fp8_recipes(), "recipe");
  } else if (table.has("compiles_casts")) {
    table.problem("compiles_casts", "has no effect without fp8_recipe");
  }
}

}  // namespace

OperatorSettings read_operator_settings(TomlTable table) {
  OperatorSettings settings;
  settings.fuses_batch_norm_relu = table.boolean_or("fuses_batch_norm_relu", false);
  settings.fuses_elementwise = table.boolean_or("fuses_elementwise", false);
  settings.fuses_softmax = table.boolean_or("fuses_softmax", false);
  settings.fuses_residual = table.boolean_or("fuses_residual", false);
  settings.composes_rows = table.boolean_or("composes_rows", false);
  settings.compiles_kernels = table.boolean_or("compiles_kernels", false);
  settings.inplace_activation = table.boolean_or("inplace_activation", true);
  settings.channels_last = table.boolean_or("channels_last", false);
  settings.turns_filters = table.boolean_or("turns_filters", false);
  settings.separate_bias = table.boolean_or("separate_bias", true);
  settings.batch_norm_forward_passes = table.number_or("batch_norm_forward_passes", 3, kPositive);
  settings.batch_norm_backward_passes = table.number_or("batch_norm_backward_passes", 5, kPositive);
  settings.fuses_linear_bias = table.boolean_or("fuses_linear_bias", false);
  settings.fused_attention = table.boolean_or("fused_attention", false);
  read_attention_kernel(table, settings);
  read_fp8_recipe(table, settings);
  settings.amp_16_bit = table.boolean_or("amp_16_bit", false);
  settings.norm_column_loads = static_cast<int>(table.integer_or("norm_column_loads", 0, 0, 65536));
  settings.casts_singly = table.boolean_or("casts_singly", false);
  settings.narrow_norms = table.boolean_or("narrow_norms", false);
  settings.copies_promoted = table.boolean_or("copies_promoted", false);
  settings.vectorizes_16_bit = table.boolean_or("vectorizes_16_bit", true);
  settings.dropout_forward_passes = table.number_or("dropout_forward_passes", 3, kPositive);
  settings.dropout_backward_passes = table.number_or("dropout_backward_passes", 3, kPositive);
  settings.softmax_backward_passes = table.number_or("softmax_backward_passes", 3, kPositive);
  const std::string recurrent = table.text_or("recurrent", "library");
  if (recurrent == "cells")
    settings.recurrent = RecurrentKernels::cells;
  else if (recurrent != "library")
    table.problem("recurrent", fmt::format("expected \"library\" or \"cells\", got \"{}\"", recurrent));
  settings.persistent_recurrent = table.boolean_or("persistent_recurrent", false);
  (void)table.text("source");
  table.finish();
  return settings;
}

}  // namespace tbdsim
