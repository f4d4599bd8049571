#pragma once
#include <span>

#include "model/prediction/divided_step.hpp"
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

/// Sets the kernels and the host's work of the slowest rank's step. Kernels of equal layers and of all micro-batches stand
/// together, with their launches. What gradients of micro-batches are added up by, and what kernels take longer beside
/// collectives, is one entry: the sum is the time for which the rank's kernels run. Expects `step` to be put together.
void describe_kernels(const DividedParts& parts, DividedStep& step);

}  // namespace tbdsim
