#pragma once
#include <vector>

#include "model/workload/op_graph.hpp"
#include "model/workload/pass.hpp"

namespace tbdsim {

/// One computation of a training step.
struct StepNode {
  Pass pass = Pass::forward;
  OpId op;                ///< gradient_sum: the producer of the tensor whose gradients are added
  ParameterId parameter;  ///< update only
  int summands = 0;       ///< gradient_sum only: how many gradients are added (>= 2)
};

/// The computations of one optimiser update in the order in which a framework issues them.
///
/// Derived from the forward graph as autograd does: operators in reverse; convolution and linear split into
/// backward_weights and, unless their input needs no gradient, backward_data; a tensor with m > 1 consumers that
/// need a gradient gets one gradient_sum of m before its producer's backward (slices that do not overlap count as one:
/// their gradients are joined); operators upstream of which
/// nothing is trainable have no backward. One update node per parameter array, in parameter order.
struct TrainingStep {
  std::vector<StepNode> forward, backward, update;
};
[[nodiscard]] TrainingStep training_step(const OpGraph& graph);

}  // namespace tbdsim
