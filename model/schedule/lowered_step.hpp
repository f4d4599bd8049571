#pragma once
#include <vector>

#include "model/cost/kernel_model.hpp"
#include "model/engine/task_graph.hpp"
#include "model/workload/training_step.hpp"

namespace tbdsim {

/// What a task of the lowered graph stands for.
/// `metric` evaluates the outputs of a batch, beside the nodes of the step.
enum class Work { host, kernel, exchange, metric };

/// Which part of an array's way a task of an exchange is; `whole` where it has one part only. `serve` is a processor's work,
/// `merge` that of a GPU beside its compute stream.
enum class Leg { whole, gather, push, serve, reply, scatter, merge };

struct StepTask {
  Work work = Work::kernel;
  std::int32_t node = -1;  ///< index into LoweredStep::nodes; -1: belongs to no node, as a bucket or a store's copy
  std::int32_t iteration = 0;
  std::int32_t rank = 0;   ///< among the ranks that are held apart
  std::int32_t item = -1;  ///< of an exchange: the parameter array, bucket or slice that it moves; -1: none in particular
  Leg leg = Leg::whole;
  double updating = 0.0;   ///< of an exchange: the part of its time, its last, in which a store updates weights
  double stretched = 0.0;  ///< of a kernel: the part of its time that the exchange adds
};

/// A training step as tasks on the resources of the ranks that are held apart (one, where all are alike).
struct LoweredStep {
  engine::TaskGraph graph;
  std::vector<StepTask> tasks;                      ///< by task label
  std::vector<StepNode> nodes;                      ///< forward, backward, update
  std::vector<NodeCost> costs;                      ///< of each node
  std::size_t forward_nodes = 0, update_nodes = 0;  ///< the first and the last of them
  std::int32_t iterations = 1;                      ///< the last one is the steady state
  std::int32_t ranks = 1;                           ///< held apart
  /// The exchange of an iteration may end in the next one's forward pass: an iteration then ends with its last kernel.
  bool carries_over = false;
  bool in_passes = false;       ///< forward and backward hold the exchange, as the calls of a script do
  Bytes gradient_element{4.0};  ///< of a gradient, as exchanged
  Seconds total;                ///< of all tasks of an iteration, one after the other; not cut to what the clock holds
  Bytes exchanged;              ///< per step and rank
};

}  // namespace tbdsim
