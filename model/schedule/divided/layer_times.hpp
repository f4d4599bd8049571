#pragma once
#include <optional>
#include <vector>

#include "model/cost/kernel_model.hpp"
#include "model/schedule/divided/group_plans.hpp"
#include "model/schedule/divided/pass_time.hpp"
#include "model/workload/array_owners.hpp"
#include "model/workload/layer_classes.hpp"
#include "model/workload/recompute.hpp"

namespace tbdsim {

/// Device time of one operator in a pass.
struct OperatorTime {
  OpId op;
  Pass pass = Pass::forward;
  Seconds time;
  Flop flop;
  bool tensor_core = false;
  bool again = false;                 ///< a second time, for backward
  std::optional<std::size_t> cost{};  ///< its kernel's place in `LayerCost::costs`; absent: none runs
};

/// One layer of a class on one rank, for one micro-batch.
struct LayerCost {
  PassTime forward, backward;                    ///< backward with what is computed again
  Seconds weights, again;                        ///< parts of the backward's kernels: gradients of weights; forward once more
  double parameters = 0, expert_parameters = 0;  ///< elements of the rank's arrays, without and of experts
  double frozen = 0, expert_frozen = 0;          ///< of those that are never trained
  int arrays = 0;
  ArraySizes sizes;                     ///< of those without experts'
  Flop flop, again_flop;                ///< useful; of it what is computed again is not part
  Bytes boundary;                       ///< of its output, that the next layer reads
  std::vector<NodeCost> costs;          ///< of its kernels, in no order
  std::vector<OperatorTime> operators;  ///< in order of issue; with what is computed again, as forward
};

/// Arrays of one layer of a rank.
struct LayerArrays {
  double parameters = 0, expert_parameters = 0;  ///< elements, without and of experts
  double frozen = 0, expert_frozen = 0;          ///< of those that are never trained
  int count = 0;
  ArraySizes sizes;  ///< of those without experts'
};
[[nodiscard]] LayerArrays layer_arrays(const OpGraph& graph, const LayerClasses& layers, int layer);

/// Of a number that the tensor axis gathers for a product in 8 bits.
struct GatherWidths {
  Bytes input{2.0}, gradient{2.0};
};

/// What a micro-batch's gradient moves for each parameter when it joins the sum, and of how many micro-batches it does.
struct GradientSum {
  Bytes dense, experts;
  double share = 1.0;
  auto operator<=>(const GradientSum&) const = default;
};

/// What layers are simulated with.
struct LayerSetting {
  const KernelModel& kernels;
  const Stack& stack;
  double batch = 1;       ///< samples of a micro-batch
  double host_scale = 1;  ///< host time against the host on which the stack was measured
  double slowdown = 1;    ///< of every kernel and of the host
  Bytes element{2.0};     ///< of feature maps, as they travel
  Recompute recompute = Recompute::none;
  int expert_ranks = 1;  ///< over which experts are divided
  int tensor_ranks = 1;  ///< over which layers are
  GatherWidths gathers;
  GradientSum sum;
};

/// Nodes of one layer of every class.
struct ClassNodes {
  std::vector<std::vector<StepNode>> forward, backward;
};
[[nodiscard]] ClassNodes class_nodes(const OpGraph& graph, const LayerClasses& layers);

/// Simulates one layer of every class. Expects a graph of one rank (`shard`).
[[nodiscard]] std::vector<LayerCost> layer_costs(const OpGraph& graph, const LayerClasses& layers, const ClassNodes& nodes,
                                                 const LayerSetting& setting, GroupPlans& plans);
[[nodiscard]] std::vector<LayerCost> layer_costs(const OpGraph& graph, const LayerClasses& layers, const LayerSetting& setting,
                                                 GroupPlans& plans);

}  // namespace tbdsim
