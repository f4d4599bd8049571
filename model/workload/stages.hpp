#pragma once
#include <vector>

#include "model/support/result.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// The stage of a layer of `layers`, the head not counted, which goes with the last. Expects no more stages than layers.
[[nodiscard]] constexpr int stage_of_layer(int layer, int stages, int layers) {
  const int stage = layer * stages / layers;
  return stage < stages ? stage : stages - 1;
}

/// The stage of each operator when the layers of a network are divided evenly over `stages` in their order: layers as
/// `Recompute::layer` has them, what lies before the first with the first stage, what follows the last with the last.
/// Errors: fewer layers than stages.
[[nodiscard]] Result<std::vector<int>> even_stages(const OpGraph& graph, int stages);

/// The operators of one stage as a network of their own: what they read of other stages is its input, and an operator
/// that trains another stage's array (scores over the table of words) has a copy of it, as Megatron keeps.
/// Expects `stage` to name the stage of each operator.
[[nodiscard]] OpGraph stage_share(const OpGraph& graph, const std::vector<int>& stage, int which);

}  // namespace tbdsim
