#pragma once
#include "model/cost/attention_shape.hpp"
#include "model/cost/kernel_rates.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/hardware/kernel_constants.hpp"
#include "model/stack/attention_kernel.hpp"

namespace tbdsim {

/// Attention in kernels of its own: heads put apart (queries, keys, values and, at the end, the result), scores, their scale
/// and mask, softmax, and the weighted sum of values.
struct SeparateAttention {
  TileConstants tiles;
  KernelRates products, pointwise, softmax;
  Bytes element{4.0};
  bool vectorized = true;  ///< plain elementwise kernels load several 16-bit numbers at once
  double softmax_backward_passes = 3;
};
[[nodiscard]] KernelTimeModel separate_attention_time(const AttentionShape& shape, bool backward, const SeparateAttention& means);

}  // namespace tbdsim
