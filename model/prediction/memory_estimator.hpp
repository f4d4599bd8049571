#pragma once
#include <memory>
#include <vector>

#include "model/prediction/memory_estimate.hpp"

namespace tbdsim {

/// What one GPU runs, and its place in a network that is divided.
struct NetworkPart {
  std::shared_ptr<const OpGraph> graph;
  std::vector<StepNode> nodes;
  PartOfNetwork place;
};

/// The operators of `share` (`shard`) for which `here` is 1, on a rank of a pipeline.
[[nodiscard]] NetworkPart pipeline_part(const OpGraph& share, const std::vector<int>& here, Repetition repetition,
                                        double in_flight);

/// Memory of a part under a configuration's layout, batch and sharding. Expects a divided network.
[[nodiscard]] StepMemory part_memory(const Configuration& configuration, const KernelModel& kernels, const NetworkPart& part);

/// Which stages of a pipeline are looked at.
enum class StagesLookedAt {
  all,
  unlike,  ///< of stages alike the one with most micro-batches in flight, which needs most
};

/// A configuration with its kernels and the order of its step: memory at any batch.
class MemoryEstimator {
 public:
  /// Errors: as `KernelModel::make`, `shard` and `stages_of`.
  [[nodiscard]] static Result<MemoryEstimator> make(Configuration configuration, StagesLookedAt stages = StagesLookedAt::all);

  /// Of a divided network: the fullest stage's, with one rank for each stage.
  [[nodiscard]] StepMemory at(int batch);
  [[nodiscard]] const Configuration& configuration() const { return configuration_; }
  /// What the step is of that `at` has returned last: the network or the fullest stage's part of it.
  [[nodiscard]] const OpGraph& graph() const { return *graph_; }

 private:
  MemoryEstimator(Configuration configuration, KernelModel kernels);
  Result<void> divide(StagesLookedAt stages);
  StepMemory at(const NetworkPart& part);

  Configuration configuration_;
  KernelModel kernels_;
  std::vector<NetworkPart> parts_;
  std::shared_ptr<const OpGraph> graph_;
};

/// The GPU whose peak is highest.
[[nodiscard]] const RankMemory& fullest(const StepMemory& memory);

}  // namespace tbdsim
