#pragma once
#include "model/cost/kernel_rates.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/hardware/kernel_constants.hpp"
#include "model/stack/attention_kernel.hpp"

namespace tbdsim {

/// Attention of `heads` heads of `width` features: every query row against every key row, or against those before it. Fewer
/// `kv_heads` of keys and values are read once for all the heads that share them.
struct AttentionShape {
  double batch = 1, heads = 1, queries = 1, keys = 1, width = 64;
  bool causal = false;     ///< the last query sees all keys, each one before it a key less
  double kv_heads = 0;     ///< heads of keys and values, each for a group of query heads; 0: as many as heads
  double value_width = 0;  ///< 0: as wide as keys
  double window = 0;       ///< of a causal mask: so many keys up to a query's own; 0: all
  [[nodiscard]] double groups() const { return kv_heads == 0 ? 1.0 : heads / kv_heads; }
  [[nodiscard]] double values() const { return value_width == 0 ? width : value_width; }
};

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
