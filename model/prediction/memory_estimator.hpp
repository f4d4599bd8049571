#pragma once
#include <vector>

#include "model/prediction/memory_estimate.hpp"

namespace tbdsim {

/// Which stages of a pipeline are looked at.
enum class StagesLookedAt {
  all,
  unlike,  ///< of stages alike the one with most micro-batches in flight, which needs most
};

/// A configuration with its kernels and the order of its step: memory at any batch.
class MemoryEstimator {
 public:
  /// Errors: as `KernelModel::make`, `shard` and `even_stages`.
  [[nodiscard]] static Result<MemoryEstimator> make(Configuration configuration, StagesLookedAt stages = StagesLookedAt::all);

  /// Of a divided network: the fullest stage's, with one rank for each stage.
  [[nodiscard]] StepMemory at(int batch);
  [[nodiscard]] const Configuration& configuration() const { return configuration_; }
  /// What the step is of that `at` has returned last: the network or the fullest stage's part of it.
  [[nodiscard]] const OpGraph& graph() const { return *graph_; }

 private:
  /// What one GPU runs.
  struct Part {
    std::shared_ptr<const OpGraph> graph;
    std::vector<StepNode> nodes;
    PartOfNetwork place;
  };

  MemoryEstimator(Configuration configuration, KernelModel kernels);
  Result<void> divide(StagesLookedAt stages);
  void add_part(std::shared_ptr<const OpGraph> graph, TrainingStep step, PartOfNetwork place);
  StepMemory at(const Part& part);

  Configuration configuration_;
  KernelModel kernels_;
  std::vector<Part> parts_;
  std::shared_ptr<const OpGraph> graph_;
  std::vector<NodeCost> costs_;
};

/// The GPU whose peak is highest.
[[nodiscard]] const RankMemory& fullest(const StepMemory& memory);

}  // namespace tbdsim
