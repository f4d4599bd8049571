#pragma once
#include <vector>

#include "model/cost/kernel_model.hpp"
#include "model/engine/timeline.hpp"
#include "model/schedule/collective/collective.hpp"
#include "model/workload/training_step.hpp"

namespace tbdsim {

/// What a task of the lowered graph stands for.
enum class Work { host, kernel, exchange };

struct StepTask {
  Work work = Work::kernel;
  std::int32_t node = -1;  ///< index into LoweredStep::nodes; -1: an exchange bucket
  std::int32_t iteration = 0;
};

/// A training step as tasks on the resources of one rank. Identical ranks are simulated once: they start together, and
/// a ring all-reduce loads every link of its rings alike, so one flow over all of them stands for all ranks.
struct LoweredStep {
  engine::TaskGraph graph;
  std::vector<StepTask> tasks;  ///< by task label
  std::vector<StepNode> nodes;  ///< forward, backward, update
  std::vector<NodeCost> costs;  ///< of each node
  std::int32_t iterations = 1;  ///< the last one is the steady state
  engine::StreamId host, compute, communication;
  Seconds total;    ///< of all tasks of an iteration, one after the other; not cut to what the clock holds
  Bytes exchanged;  ///< per step and rank
};

/// How a step is lowered.
struct LowerOptions {
  double batch = 1;           ///< per rank
  double dispatch_scale = 1;  ///< host time per operator against the host on which the stack was measured
  bool update = true;         ///< false: forward and backward only
};

/// Builds the task graph.
///
/// Host and device as the stack couples them: queued (the host runs ahead, a kernel starts when the device is free and
/// its launch has arrived) or serialized (the host handles the next operator when the kernel has ended). Two iterations
/// are lowered when the host may run ahead, so that the second shows the steady state.
/// With several ranks, gradients are exchanged in buckets of the stack's size in the order in which backward produces
/// them; a bucket starts when its last gradient exists (or, without overlap, when backward has ended), and the updates
/// wait for all buckets.
[[nodiscard]] LoweredStep lower(const OpGraph& graph, const TrainingStep& step, const KernelModel& kernels, const Stack& stack,
                                const CollectivePlan& exchange, const LowerOptions& options);

}  // namespace tbdsim
