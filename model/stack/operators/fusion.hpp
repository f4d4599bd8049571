#pragma once
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// Which operators a framework joins in one kernel, and which it takes apart.
struct FusionSettings {
  bool batch_norm_relu = false;  ///< BN, add and ReLU in one kernel
  bool elementwise = false;      ///< XLA or a compiler fuses chains of elementwise operators
  bool reads_results = false;    ///< and the gradient of a fused activation reads its result, instead of computing it again
  bool softmax = false;          ///< scale, mask and softmax of scores are one kernel (Megatron-LM)
  bool residual = false;         ///< dropout and the residual sum after it are one kernel
  bool linear_bias = false;      ///< a linear layer's bias is added by its product
  bool separate_bias = true;     ///< convolution bias is a kernel of its own
  bool library_bias = false;     ///< its gradient is summed by the library (`library_bias_gradient_time`)
  bool composes_rows = false;    ///< RMS norm, rotary embedding and gates are chains of elementwise kernels
  bool composes_rotary = false;  ///< rotary embedding is, whatever the others are
};

/// Its keys of a [operators] table.
[[nodiscard]] FusionSettings read_fusion(TomlTable& table);

}  // namespace tbdsim
