#include "model/memory/footprint.hpp"

#include <algorithm>

#include "model/workload/saved_tensors.hpp"

namespace tbdsim {
namespace {

// Blocks are rounded and holes remain: requested against reserved bytes of a published 2-GPU ResNet-50 allocation
// trace (UofT-EcoSystem/sockeye): 1519 MB rounded for 1372 MB of feature maps.
constexpr double kSlackShare = 0.10;

}  // namespace

Bytes Footprint::total() const {
  return weights + gradients + optimizer_state + feature_maps + workspace + dynamic + input + exchange + context + slack;
}

Footprint footprint(const OpGraph& graph, std::span<const NodeCost> costs, const Stack& stack, const FootprintOptions& options) {
  constexpr Bytes kSingle(4.0);
  Footprint result;
  const auto parameters = static_cast<double>(graph.parameter_elements());
  result.weights = parameters * (options.element + (options.master_weights ? kSingle : Bytes(0.0)));
  // Autocast keeps gradients as wide as the weights they belong to.
  result.gradients = parameters * (options.master_weights ? kSingle : options.element);
  result.optimizer_state = options.optimizer_states * parameters * kSingle;
  const SavingRules rules =
      stack.memory_plan == MemoryPlan::mxnet && !stack.inplace_activation ? SavingRules::mxnet : SavingRules::autograd_cuda;
  const SavedBytes saved = saved_bytes(graph, rules, options.element);
  result.feature_maps = options.batch * saved.per_sample + saved.fixed;
  double largest = 0.0;
  for (const Tensor& tensor : graph.tensors) largest = std::max(largest, static_cast<double>(elements(tensor.shape)));
  result.dynamic = 2.0 * largest * options.batch * options.element;
  for (const NodeCost& cost : costs) result.workspace = std::max(result.workspace, cost.kernel.workspace);
  result.input = options.batch * static_cast<double>(elements(graph.tensors.front().shape)) * kSingle;
  result.exchange = options.exchange_bucket;
  result.context = stack.context;
  result.slack = kSlackShare * (result.feature_maps + result.dynamic);
  return result;
}

}  // namespace tbdsim
