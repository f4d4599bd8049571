#pragma once
#include <utility>
#include <vector>

#include "model/schedule/divided/pass_time.hpp"

namespace tbdsim {

/// A part of the network on the rank that holds it, for one micro-batch.
struct ChunkPass {
  PassTime forward, backward;
  Seconds weights, again;  ///< parts of backward: gradients of weights; kernels that compute forward once more
};

/// What one rank does in a step, of all micro-batches.
struct RankStep {
  PassTime forward, backward;
  Seconds again;                             ///< kernels that compute forward once more
  Seconds end;                               ///< of its last backward pass
  Seconds exchange, exposed, update;         ///< calls behind and beside the passes; what is waited for of them
  Seconds offload;                           ///< what is waited for the host behind the passes: copies, its update
  Seconds host_update;                       ///< part of it, at most: all of the host's update
  Seconds tied;                              ///< part of both: the table of words between the first and the last stage
  std::vector<std::pair<int, double>> runs;  ///< parts of the network that it holds, with their micro-batches
};

}  // namespace tbdsim
