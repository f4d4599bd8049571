#pragma once
#include <vector>

#include "model/analysis/memory_estimate.hpp"

namespace tbdsim {

/// A configuration with its kernels and the order of its step: memory at any batch.
class MemoryEstimator {
 public:
  /// Errors: as `KernelModel::make`.
  [[nodiscard]] static Result<MemoryEstimator> make(Configuration configuration);

  [[nodiscard]] StepMemory at(int batch);
  [[nodiscard]] const Configuration& configuration() const { return configuration_; }

 private:
  MemoryEstimator(Configuration configuration, KernelModel kernels);

  Configuration configuration_;
  KernelModel kernels_;
  std::vector<StepNode> nodes_;
  std::vector<NodeCost> costs_;
};

/// The GPU whose peak is highest.
[[nodiscard]] const RankMemory& fullest(const StepMemory& memory);

}  // namespace tbdsim
