#pragma once
#include <span>
#include <vector>

#include "model/cost/kernel_model.hpp"
#include "model/schedule/collective/collective.hpp"
#include "model/schedule/exchange/exchange_style.hpp"
#include "model/schedule/lowered_step.hpp"

namespace tbdsim {

/// How a step is lowered.
struct LowerOptions {
  double batch = 1;              ///< per rank
  double dispatch_scale = 1;     ///< host time per operator against the host on which the stack was measured
  bool update = true;            ///< false: forward and backward only
  double slowdown = 1;           ///< of every kernel and every operator's host time
  int micro_batches = 1;         ///< of `batch` samples each, before gradients are exchanged and weights updated
  int driven = 1;                ///< GPUs of one process, which evaluates one after the other
  Bytes gradient_element{4.0};   ///< of a gradient, as exchanged
  Seconds launch_interval{0.0};  ///< no operator's host time is below that of its kernels' launches
  /// What `node_costs` says where it is known already; empty: the kernels are asked.
  std::span<const NodeCost> costs{};
};

/// Costs of every node of a step, forward, backward, update, at a batch per rank.
[[nodiscard]] std::vector<NodeCost> node_costs(const OpGraph& graph, const TrainingStep& step, const KernelModel& kernels,
                                               double batch);

/// Builds the task graph.
///
/// Host and device as the stack couples them: queued (the host runs ahead, a kernel starts when the device is free and
/// its launch has arrived) or serialized (the host handles the next operator when the kernel has ended). Two iterations
/// are lowered when the host may run ahead, so that the second shows the steady state; more where the style asks for it.
/// The exchange of gradients is the style's.
///
/// Micro-batches: forward and backward of each in turn, or, where ranks hold stages of the network, forward of all and then
/// backward of all. From the second on, every gradient is added to the sum so far; only the last one's are exchanged.
[[nodiscard]] LoweredStep lower(const OpGraph& graph, const TrainingStep& step, const KernelModel& kernels, const Stack& stack,
                                ExchangeStyle& style, const LowerOptions& options);

/// The same with the stack's default between ranks, `BucketedAllReduce`.
[[nodiscard]] LoweredStep lower(const OpGraph& graph, const TrainingStep& step, const KernelModel& kernels, const Stack& stack,
                                const CollectivePlan& all_reduce, const LowerOptions& options);

}  // namespace tbdsim
