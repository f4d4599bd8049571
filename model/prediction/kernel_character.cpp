#include "model/prediction/kernel_character.hpp"

#include <algorithm>

namespace tbdsim {
namespace {

KernelClass class_of(const OpGraph& graph, const StepNode& node, const NodeCost& cost) {
  if (node.pass == Pass::update || node.pass == Pass::gradient_sum) return KernelClass::streaming;
  const OperatorRow& row = info(graph.op(node.op).kind);
  if (cost.family == KernelFamily::recurrent) return KernelClass::recurrent;
  if (row.family == OpFamily::attention) return KernelClass::attention;
  if (cost.family && info(*cost.family).reduces_rows) return KernelClass::reducing;
  if (cost.family == KernelFamily::memory_bound) return row.reduces ? KernelClass::reducing : KernelClass::streaming;
  if (cost.algorithm == ConvolutionAlgorithm::fft) return KernelClass::transform;
  return cost.tensor_core ? KernelClass::tensor_tiled : KernelClass::tiled;
}

/// Numbers that the node writes.
double outputs_of(const OpGraph& graph, const StepNode& node, double batch) {
  if (node.pass == Pass::update) return gradient_elements(graph.parameter(node.parameter), batch);
  const Op& op = graph.op(node.op);
  const bool forward = node.pass == Pass::forward || node.pass == Pass::gradient_sum || op.inputs.empty();
  if (node.pass != Pass::backward_weights)
    return batch * static_cast<double>(elements(forward ? graph.output_shape(op) : graph.input_shape(op)));
  double sum = 0.0;
  for (const ParameterId id : op.parameters) sum += static_cast<double>(elements(graph.parameter(id).shape));
  // Gradients of weights add up over batch and positions; libraries split that sum over blocks. 16: assumed.
  constexpr double kSplits = 16.0;
  return kSplits * sum;
}

}  // namespace

KernelCharacter characterize(const OpGraph& graph, const StepNode& node, const NodeCost& cost, double batch,
                             const Device& device) {
  const KernelClass kind = class_of(graph, node, cost);
  const KernelTimeModel& kernel = cost.kernel;
  // One of several equal launches writes its part.
  const double outputs = outputs_of(graph, node, batch) / std::max(1, kernel.kernels);
  return {achieved_occupancy(kind, outputs, device), stall_shares(kernel)};
}

}  // namespace tbdsim
