#pragma once
#include "model/units/quantity.hpp"

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

/// Scores that the mask leaves, of all heads.
[[nodiscard]] double attention_scores(const AttentionShape& shape);

/// Useful FLOP of one pass, whatever kernel runs it: two products forward and four backward, of the scores that the mask leaves.
/// Masked scores that a kernel computes, and scores that it computes again, are left out.
[[nodiscard]] Flop attention_flop(const AttentionShape& shape, bool backward);

}  // namespace tbdsim
