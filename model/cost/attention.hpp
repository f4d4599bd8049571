#pragma once
#include "model/cost/kernel_rates.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/hardware/kernel_constants.hpp"

namespace tbdsim {

/// Attention of `heads` heads of `width` features: every query row against every key row, or against those before it. Fewer
/// `kv_heads` of keys and values are read once for all the heads that share them.
struct AttentionShape {
  double batch = 1, heads = 1, queries = 1, keys = 1, width = 64;
  bool causal = false;
  double kv_heads = heads;
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

/// Attention in one kernel each way that keeps the scores on the chip, as FlashAttention does.
///
///   per score, forward:  4 width FLOP of products, one exponential, six fp32 operations (scale, mask, maximum, sum, rescaling)
///   per score, backward: 10 width FLOP (scores again, gradients of values, weights, queries, keys), the same beside it
///   C = whole waves of blocks of 128 queries: FLOP / F + scores (1/16 + 6/lanes) / (SMs clock)
///   M = queries, keys, values, output once (backward: they and their gradients) / B
///   t = t0 + (C^3 + M^3)^(1/3)
///
/// Products and exponentials of a block follow each other; a causal mask halves the scores. Neglects: keys and values read
/// again from the cache, registers spilled at widths above 128, dropout inside the kernel.
/// Source: Dao et al., FlashAttention, NeurIPS 2022; 16 exponentials a clock and multiprocessor, NVIDIA's programming guide.
/// Worked example: model/cost/README.md, tests/closed_form/attention_test.cpp.
[[nodiscard]] KernelTimeModel fused_attention_time(const AttentionShape& shape, bool backward, Bytes element,
                                                   const KernelRates& rates);

}  // namespace tbdsim
