#pragma once
#include <optional>

#include "model/input/toml_reader.hpp"
#include "model/stack/attention_kernel.hpp"
#include "model/stack/fp8_recipe.hpp"

namespace tbdsim {

/// Which kernels a recurrent layer runs.
enum class RecurrentKernels {
  library,  ///< cuDNN's (MIOpen's) layers: one call for all steps
  cells,    ///< cells of the framework's own operators, unrolled, each dispatched by the host
};

/// Which kernels a framework's operators are, and what they read and write.
struct OperatorSettings {
  bool fuses_batch_norm_relu = false;  ///< BN, add and ReLU in one kernel
  bool fuses_elementwise = false;      ///< XLA or a compiler fuses chains of elementwise operators
  bool fuses_softmax = false;          ///< scale, mask and softmax of scores are one kernel (Megatron-LM)
  bool fuses_residual = false;         ///< dropout and the residual sum after it are one kernel
  bool composes_rows = false;          ///< RMS norm, rotary embedding and gates are chains of elementwise kernels
  bool compiles_kernels = false;       ///< kernels beside the libraries' are a compiler's, which load several numbers at once
  bool inplace_activation = true;      ///< activation backward needs only the output
  bool separate_bias = true;           ///< convolution bias is a kernel of its own
  bool turns_filters = false;  ///< filters lie channels last, and every pass turns them around for the library (TensorFlow)
  bool channels_last = false;
  bool fuses_linear_bias = false;                                        ///< a linear layer's bias is added by its product
  double batch_norm_forward_passes = 3, batch_norm_backward_passes = 5;  ///< passes over the tensor
  double dropout_forward_passes = 3, dropout_backward_passes = 3;        ///< over the tensor, by all kernels it is made of
  double softmax_backward_passes = 3;                                    ///< the same
  int norm_column_loads = 0;  ///< elements of a column that layer norm's gradients load at once (`layer_norm_time`); 0: no limit
  bool vectorizes_16_bit = true;  ///< elementwise and row kernels load several 16-bit numbers at once (`moves_single_numbers`)
  bool casts_singly = false;      ///< kernels that change the width of elements load and store one at a time
  bool copies_promoted = false;   ///< a narrow operand of a wide sum or product is cast by a kernel of its own (apex O1)
  bool narrow_norms = false;      ///< layer norms cast what they read to 16 bits (apex's under autocast); else they run in fp32
  bool amp_16_bit = false;  ///< under amp all runs in 16 bits but loss and update (apex O2); else some operators between casts
  bool fused_attention = false;                          ///< attention layers run as one kernel that keeps the scores on the chip
  AttentionKernel attention = AttentionKernel::general;  ///< that kernel, where device and precision have it
  std::optional<Fp8Recipe> fp8_recipe;                   ///< of products in 8 bits; absent: the stack trains without
  bool compiles_casts = false;  ///< its casts are kernels of a compiler, whatever the other operators are
  RecurrentKernels recurrent = RecurrentKernels::library;
  bool persistent_recurrent = false;  ///< 16-bit layers may keep their weights in registers (cuDNN's persistent kernels)
};

/// Reads an [operators] table.
[[nodiscard]] OperatorSettings read_operator_settings(TomlTable table);

}  // namespace tbdsim
