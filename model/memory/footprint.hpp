#pragma once
#include <span>

#include "model/cost/kernel_model.hpp"

namespace tbdsim {

/// Device memory of one rank, by category (DESIGN's parts).
struct Footprint {
  Bytes weights, gradients, optimizer_state, feature_maps, workspace, dynamic, input, exchange, context, slack;
  [[nodiscard]] Bytes total() const;
};

/// What decides a rank's footprint besides network and kernels.
struct FootprintOptions {
  double batch = 1;
  Bytes element{4.0};           ///< of feature maps
  double optimizer_states = 1;  ///< fp32 arrays per parameter
  bool master_weights = false;  ///< fp32 copy beside 16-bit weights
  Bytes exchange_bucket;        ///< staging of the gradient exchange; zero on one GPU
};

/// Sum of what lives together at the peak, at the start of the backward pass: parameters, gradients, optimiser state,
/// every storage kept for backward, the largest convolution workspace, two gradient buffers of the largest feature
/// map, input and context.
///
/// Neglects the order of lifetimes and the allocator's fragmentation beyond a stated slack: an upper estimate within
/// about 15 %, not a replay.
[[nodiscard]] Footprint footprint(const OpGraph& graph, std::span<const NodeCost> costs, const Stack& stack,
                                  const FootprintOptions& options);

}  // namespace tbdsim
