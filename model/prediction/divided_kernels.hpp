#pragma once
#include <span>

#include "model/configuration/configuration.hpp"
#include "model/prediction/prediction.hpp"
#include "model/prediction/rank_step.hpp"
#include "model/schedule/divided/layer_times.hpp"

namespace tbdsim {

/// What a step that is simulated layer by layer was put together from.
struct DividedParts {
  const Configuration& configuration;
  const KernelModel& model;
  const OpGraph& graph;  ///< of one rank
  const LayerClasses& layers;
  std::span<const LayerCost> costs;          ///< of each class
  std::span<const std::size_t> first_layer;  ///< of each part of the network, and the number of layers
};

/// What one rank's GPU and host run in a step.
struct RankWork {
  std::vector<KernelTime> kernels;
  std::vector<HostTime> host;
};

/// The kernels and the host's work of one rank's step. Kernels of equal layers and of all micro-batches stand together, with
/// their launches. What gradients of micro-batches are added up by, and what kernels take longer beside collectives, is one
/// entry: the sum is the time for which the rank's kernels run.
[[nodiscard]] RankWork rank_work(const DividedParts& parts, const RankStep& rank);

}  // namespace tbdsim
