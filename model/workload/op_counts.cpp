#include "model/workload/op_counts.hpp"

#include "model/workload/shape_inference.hpp"

namespace tbdsim {
namespace {

std::int64_t recurrent_macs(const Op& op, const Shape& input) {
  const auto& a = std::get<RecurrentAttributes>(op.attributes);
  const std::int64_t directions = a.bidirectional ? 2 : 1;
  std::int64_t weights = 0;
  for (std::int64_t layer = 0; layer < a.layers; ++layer) {
    const std::int64_t columns = layer == 0 ? input.back() : a.hidden * directions;
    weights += directions * gates(op.kind) * a.hidden * (columns + a.hidden);
  }
  return weights * input.front();
}

/// Multiply-adds of one operator's forward pass for one sample.
std::int64_t forward_macs(const OpGraph& graph, const Op& op) {
  if (op.kind == OpKind::input) return 0;
  const Shape& x = graph.input_shape(op);
  const Shape& y = graph.output_shape(op);
  switch (op.kind) {
    case OpKind::convolution: {
      const auto& a = std::get<ConvolutionAttributes>(op.attributes);
      return elements(y) * (x[0] / a.groups) * a.kernel_h * a.kernel_w;
    }
    case OpKind::transposed_convolution: {
      const auto& a = std::get<ConvolutionAttributes>(op.attributes);
      return elements(x) * y[0] * a.kernel_h * a.kernel_w;
    }
    case OpKind::linear:
      return elements(y) * x.back();
    case OpKind::matmul:
      return elements(y) * x.back();
    case OpKind::attention:
      // Scores, and the values that they weigh.
      return 2 * elements(y) * graph.tensor(op.inputs[1]).shape.front();
    case OpKind::lstm:
    case OpKind::gru:
    case OpKind::vanilla_rnn:
      return recurrent_macs(op, x);
    default:
      return 0;
  }
}

/// A recurrent layer needs the gradient of its hidden state and of its weights; that of the first state only where
/// another layer made it, that of the first layer's input only where something upstream learns.
std::int64_t recurrent_backward_macs(const OpGraph& graph, const Op& op) {
  const auto& a = std::get<RecurrentAttributes>(op.attributes);
  const std::int64_t rows = (a.bidirectional ? 2 : 1) * gates(op.kind) * a.hidden;
  std::int64_t spared = a.state_given ? 0 : a.layers * rows * a.hidden;
  const Shape& x = graph.input_shape(op);
  if (!graph.tensor(op.inputs.front()).needs_gradient) spared += rows * x.back() * x.front();
  return 2 * forward_macs(graph, op) - spared;
}

std::int64_t macs(const OpGraph& graph, const StepNode& node) {
  const Op& op = graph.op(node.op);
  switch (node.pass) {
    case Pass::forward:
    case Pass::backward_data:
    case Pass::backward_weights:
      return forward_macs(graph, op);
    case Pass::backward: {
      if (op.kind == OpKind::matmul) {
        std::int64_t products = 0;
        for (const TensorId input : op.inputs) products += graph.tensor(input).needs_gradient ? 1 : 0;
        return products * forward_macs(graph, op);
      }
      // Gradients of weights and values, queries and keys.
      if (op.kind == OpKind::attention) return 2 * forward_macs(graph, op);
      return info(op.kind).family == OpFamily::recurrent ? recurrent_backward_macs(graph, op) : 0;
    }
    case Pass::gradient_sum:
    case Pass::update:
      return 0;
  }
  return 0;
}

}  // namespace

Flop flop_per_sample(const OpGraph& graph, const StepNode& node) { return Flop(2.0 * static_cast<double>(macs(graph, node))); }

MacCounts macs_per_sample(const OpGraph& graph) {
  MacCounts counts;
  const TrainingStep step = training_step(graph);
  for (const StepNode& node : step.forward) counts.forward += macs(graph, node);
  for (const StepNode& node : step.backward) counts.backward += macs(graph, node);
  return counts;
}

}  // namespace tbdsim
