#pragma once
#include <string>

#include "model/cost/kernel_model.hpp"
#include "model/hardware/cluster.hpp"
#include "model/schedule/collective/collective.hpp"
#include "model/schedule/lower.hpp"
#include "model/workload/training_step.hpp"

namespace tbdsim::bench {

/// All that one training step is lowered from, read from the catalogue of the source tree. Ends the benchmark when an
/// input is missing.
struct StepCase {
  System system;
  Stack stack;
  KernelModel kernels;
  OpGraph graph;
  TrainingStep step;
  CollectivePlan exchange;
  double batch = 32;

  [[nodiscard]] LoweredStep lowered() const { return lower(graph, step, kernels, stack, exchange, {batch}); }
};

/// `ranks` GPUs of a DGX-1 train `network`, PyTorch 1.13, fp32, 32 samples a GPU.
[[nodiscard]] StepCase dgx1_step(const std::string& network, int ranks);

/// The catalogue of the source tree.
[[nodiscard]] Catalogue catalogue();
/// Kernel constants of that catalogue.
[[nodiscard]] KernelConstants kernel_constants();

}  // namespace tbdsim::bench
