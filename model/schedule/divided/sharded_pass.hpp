#pragma once
#include <span>
#include <vector>

#include "model/schedule/divided/group_plans.hpp"
#include "model/schedule/divided/pass_time.hpp"

namespace tbdsim {

/// A layer whose weights are divided over the copies of the network, and what gathers them and divides their gradients.
struct ShardedLayer {
  const PassTime* pass = nullptr;  ///< forward or backward with whole weights
  GroupCall gather, scatter;       ///< of this layer; nothing where its weights are there, or stay
  Seconds copy_in{}, copy_out{};   ///< of its weights from the host before they are gathered, of its gradients after
  Seconds moves{};                 ///< kernels that copy its weights from what was gathered, and its gradients to what is divided
};

/// A pass over layers in the order in which it runs them. The first layer's weights are gathered before it, each other's while
/// the layer before runs; gradients are divided while the layer after runs, the last ones behind it. Calls share one stream, and
/// so do copies with the calls that need them. Kernels beside them take 1 / (1 - lost) times as long. Source: Zhao et al.,
/// arXiv:2304.11277.
[[nodiscard]] PassTime sharded_pass(std::span<const ShardedLayer> layers);

}  // namespace tbdsim
