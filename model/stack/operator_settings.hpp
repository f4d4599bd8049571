#pragma once
#include "model/input/toml_reader.hpp"
#include "model/stack/operators/amp_settings.hpp"
#include "model/stack/operators/attention_settings.hpp"
#include "model/stack/operators/fp8_settings.hpp"
#include "model/stack/operators/fusion.hpp"
#include "model/stack/operators/kernel_loads.hpp"
#include "model/stack/operators/operator_passes.hpp"
#include "model/stack/operators/recurrent_settings.hpp"
#include "model/stack/operators/tensor_order.hpp"

namespace tbdsim {

/// Which kernels a framework's operators are, and what they read and write.
struct OperatorSettings {
  FusionSettings fusion;
  KernelLoads loads;
  OperatorPasses passes;
  TensorOrder order;
  AmpSettings amp;
  Fp8Settings fp8;
  AttentionSettings attention;
  RecurrentSettings recurrent;
  bool inplace_activation = true;  ///< activation backward needs only the output
};

/// Reads an [operators] table.
[[nodiscard]] OperatorSettings read_operator_settings(TomlTable table);

}  // namespace tbdsim
