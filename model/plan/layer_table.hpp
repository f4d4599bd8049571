#pragma once
#include <array>
#include <optional>
#include <vector>

#include "model/configuration/configuration.hpp"
#include "model/cost/kernel_model.hpp"
#include "model/prediction/data_exchange.hpp"
#include "model/schedule/divided/layer_times.hpp"

namespace tbdsim::plan {

/// Kernel models of a device whose products draw less than their full power, since a step waits in between.
class DrawnKernels {
 public:
  /// Shares of the power that products draw. A step whose GPU only waits draws the last one.
  static constexpr std::array<double, 6> kShares{1.0, 0.92, 0.84, 0.74, 0.6, 0.4};

  /// Errors: as `KernelModel::make`.
  [[nodiscard]] static Result<DrawnKernels> make(const Configuration& configuration);
  [[nodiscard]] const KernelModel& at(std::size_t level) const { return models_[level]; }

 private:
  std::vector<KernelModel> models_;
};

/// Where a share lies between two of `DrawnKernels::kShares`: times of products grow with the power 0.55 of it.
struct DrawPlace {
  std::size_t level = 0;
  double part = 0.0;  ///< of the way to the next level; 0: at this one
  [[nodiscard]] static DrawPlace of(double share);
};

/// What products take at a share of the power, by what they take at all of it. That is the least for kernels of any kind.
[[nodiscard]] double least_product_time(double share);

/// One micro-batch through a run of layers on one rank.
struct RunTimes {
  Seconds forward, backward;
  Seconds forward_kernels, backward_kernels;  ///< that the compute stream is busy
  Seconds forward_memory, backward_memory;    ///< of these, that memory bounds
  Seconds weights;                            ///< of `backward`: gradients of weights
  Seconds forward_experts, backward_experts;  ///< for which passes wait for the exchange of experts
  [[nodiscard]] static RunTimes of(const PassTime& forward, const PassTime& backward, Seconds weights);
  [[nodiscard]] Seconds kernels() const { return forward_kernels + backward_kernels; }
  [[nodiscard]] PassBeside beside_forward() const;
  [[nodiscard]] PassBeside beside_backward() const;
  RunTimes& operator+=(const RunTimes& more);
};
[[nodiscard]] RunTimes operator*(double factor, RunTimes times);

/// The network as one rank of some layouts computes it.
struct RankShare {
  OpGraph graph;
  LayerClasses layers;
  ClassNodes nodes;
  bool head = false;                   ///< the last layer is the loss alone, which goes with the stage of the layer before
  std::vector<double> dense, experts;  ///< elements of arrays, summed from the first layer on
  std::vector<int> counts;             ///< of arrays, so too
  std::vector<ArraySizes> sizes;       ///< of arrays of each class
  double table = 0;                    ///< `copied_table`
  /// Of layers from `begin` up to `end`, which is not included.
  [[nodiscard]] Elements elements(std::size_t begin, std::size_t end) const {
    return {dense[end] - dense[begin], experts[end] - experts[begin]};
  }
  [[nodiscard]] int arrays(std::size_t begin, std::size_t end) const { return counts[end] - counts[begin]; }
  [[nodiscard]] int stage_layers() const { return static_cast<int>(layers.layers()) - (head ? 1 : 0); }
  /// The first layer of each of `stages` stages, and the number of layers; `stage_sizes`: layers of each, empty: evenly, also
  /// over `ranks`, that of each stage. Expects enough layers.
  [[nodiscard]] std::vector<std::size_t> first_layers(int stages, const std::vector<int>& stage_sizes,
                                                      const std::vector<int>& ranks) const;
};
/// Errors: as `shard`.
[[nodiscard]] Result<RankShare> rank_share(const OpGraph& graph, const Layout& layout);

/// Times of the layers of a share at one micro-batch and recomputation: sums from the first layer on, so that a run of
/// layers costs two readings. Filled by the function that `predict` uses (`layer_costs`), for each
/// share of the power when it is first asked for.
class LayerTable {
 public:
  /// Expects arguments that outlive it.
  LayerTable(const Configuration& configuration, const RankShare& share, const DrawnKernels& kernels, GroupPlans& plans);

  /// So many layers of each class.
  [[nodiscard]] RunTimes run(const std::vector<int>& classes, DrawPlace draw);
  /// Layers from `begin` up to `end`, which is not included.
  [[nodiscard]] RunTimes run(std::size_t begin, std::size_t end, DrawPlace draw);
  /// The whole network with weights that are gathered layer by layer.
  [[nodiscard]] RunTimes sharded_run(DataExchange& data, DrawPlace draw);
  [[nodiscard]] Bytes boundary(std::size_t layer) const { return boundary_[layer]; }

 private:
  struct Level {
    std::vector<LayerCost> costs;  ///< of each class
    std::vector<RunTimes> sums;    ///< of the layers before each, and of all
  };
  const Level& level(std::size_t which);

  // What a later level is made of.
  const RankShare& share_;
  const DrawnKernels& kernels_;
  GroupPlans& plans_;
  const Stack& stack_;
  LayerSetting setting_;
  std::array<std::optional<Level>, DrawnKernels::kShares.size()> levels_;
  std::vector<Bytes> boundary_;
};

}  // namespace tbdsim::plan
