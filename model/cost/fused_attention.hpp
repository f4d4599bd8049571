#pragma once
#include "model/cost/attention.hpp"

namespace tbdsim {

/// A fused attention kernel as one call runs it.
struct FusedAttention {
  const AttentionKernelInfo* kernel = &info(AttentionKernel::general);
  AttentionConstants constants;
  Bytes element{2.0};         ///< of queries, keys and values; the result has 16 bits at least
  bool writes_cache = false;  ///< keys and values are copied to a cache first (serving)
  bool rotates = false;       ///< queries and keys are turned by their place before (TensorRT-LLM times it with the kernel)
};

/// Attention in one kernel each way. A block takes some query rows of a head and walks the keys (backward: key rows, and walks
/// the queries):
///
///   mm    = 2 (d + v) / (share F / SMs)       s per score: products; backward 2 (3 d + 2 v)
///   sm    = (1/16 + 6/lanes) / clock          s per score: softmax; `exposed_softmax` of it is not hidden
///   c     = rows of a block x (mm + exposed sm) x blocks together      s per key
///   total = (keys visited by all blocks + blocks x prologue) c / places
///   chain = (longest block / parts + prologue) c
///   C     = max(total + tail chain min(1, blocks parts / places), chain)
///   M     = q, k, v, output once / rate       backward twice, and gradients of queries in 32 bits
///   t     = start + (C^3 + M^3)^(1/3) + passes before it / rate
///
/// `rate` mixes the memory's with that of the last-level cache as far as it holds the operands. Neglects: dropout inside the
/// kernel, deterministic gradients. Expects a window only where the mask is causal. Worked example: model/cost/README.md.
[[nodiscard]] KernelTimeModel fused_attention_time(const AttentionShape& shape, bool backward, const FusedAttention& means,
                                                   const KernelRates& rates);

/// What a kernel whose constants are another's adds to the spread of its times: standard deviation of the logarithm
/// (FlashAttention, FlashInfer and TensorRT-LLM for each other, boards left out).
inline constexpr double kBorrowedKernelSigma = 0.15;

/// Constants of a kernel; where none were fitted, of the one it is like; else those that nobody measured.
[[nodiscard]] AttentionConstants attention_constants(AttentionKernel kernel, const KernelConstants& constants);

}  // namespace tbdsim
