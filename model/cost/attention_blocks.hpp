#pragma once
#include "model/cost/attention_shape.hpp"
#include "model/stack/attention_kernel.hpp"

namespace tbdsim {

/// How the blocks of a fused attention kernel walk the scores.
struct AttentionBlocks {
  double blocks = 0;   ///< of the whole launch
  double visits = 0;   ///< columns that they visit, summed over all blocks and rounded out to whole steps
  double longest = 0;  ///< columns of the longest block
};

/// Forward: blocks of query rows walk the keys that mask and window leave. Backward: blocks of key rows walk the queries.
/// The sums over blocks are closed (sums of whole quotients), so that a sequence of 131,072 costs no more than a short one.
[[nodiscard]] AttentionBlocks attention_blocks(const AttentionShape& shape, bool backward, const AttentionKernelInfo& kernel);

}  // namespace tbdsim
