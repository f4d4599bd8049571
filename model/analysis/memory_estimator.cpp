#include "model/analysis/memory_estimator.hpp"

#include <algorithm>

namespace tbdsim {

Result<MemoryEstimator> MemoryEstimator::make(Configuration configuration) {
  auto kernels =
      KernelModel::make(configuration.hardware().device, configuration.precision, configuration.stack, **configuration.constants);
  if (!kernels) return tl::make_unexpected(kernels.error());
  return MemoryEstimator(std::move(configuration), std::move(*kernels));
}

MemoryEstimator::MemoryEstimator(Configuration configuration, KernelModel kernels)
    : configuration_(std::move(configuration)), kernels_(std::move(kernels)) {
  const TrainingStep step = configured_step(configuration_);
  for (const auto* part : {&step.forward, &step.backward, &step.update}) nodes_.insert(nodes_.end(), part->begin(), part->end());
}

StepMemory MemoryEstimator::at(int batch) {
  configuration_.batch = batch;
  costs_.clear();
  for (const StepNode& node : nodes_)
    costs_.push_back(kernels_.cost(configuration_.network_graph().graph, node, static_cast<double>(batch)));
  return estimate_memory(configuration_, nodes_, costs_);
}

const RankMemory& fullest(const StepMemory& memory) {
  return *std::max_element(memory.ranks.begin(), memory.ranks.end(),
                           [](const RankMemory& a, const RankMemory& b) { return a.peak < b.peak; });
}

}  // namespace tbdsim
