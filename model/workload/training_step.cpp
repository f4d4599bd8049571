#include "model/workload/training_step.hpp"

namespace tbdsim {
namespace {

void append_backward(const OpGraph& graph, OpId id, std::vector<StepNode>& nodes) {
  const Op& op = graph.op(id);
  if (!info(op.kind).splits_backward) {
    nodes.push_back({Pass::backward, id, {}, 0});
    return;
  }
  nodes.push_back({Pass::backward_weights, id, {}, 0});
  if (graph.tensor(op.inputs.front()).needs_gradient) nodes.push_back({Pass::backward_data, id, {}, 0});
}

/// Whether an operator's backward has a gradient for a tensor that it reads.
bool returns_gradient(const OpGraph& graph, const Op& op, TensorId tensor) {
  if (!graph.tensor(op.output).needs_gradient) return false;
  const int wanted = info(op.kind).gradient_inputs;
  for (std::size_t i = 0; i < op.inputs.size() && static_cast<int>(i) < wanted; ++i)
    if (op.inputs[i] == tensor) return true;
  return false;
}

/// Disjoint parts of a tensor have no gradients to add: theirs are joined.
int gradients_to_add(const OpGraph& graph, TensorId whose) {
  const Tensor& tensor = graph.tensor(whose);
  std::int64_t covered = 0;
  int wholes = 0;
  for (const OpId id : tensor.consumers) {
    const Op& op = graph.op(id);
    if (!returns_gradient(graph, op, whose)) continue;
    if (op.kind == OpKind::slice) {
      covered += elements(graph.output_shape(op));
    } else {
      ++wholes;
    }
  }
  if (covered > elements(tensor.shape)) return static_cast<int>(tensor.consumers.size());
  return wholes + (covered > 0 ? 1 : 0);
}

}  // namespace

TrainingStep training_step(const OpGraph& graph) {
  TrainingStep step;
  const std::size_t count = graph.ops.size();
  step.forward.reserve(count);
  step.backward.reserve(2 * count);
  step.update.reserve(graph.parameters.size());
  for (std::size_t i = 0; i < count; ++i)
    if (graph.ops[i].kind != OpKind::input) step.forward.push_back({Pass::forward, OpId{static_cast<std::int32_t>(i)}, {}, 0});
  for (std::size_t i = count; i-- > 0;) {
    const OpId id{static_cast<std::int32_t>(i)};
    const Tensor& output = graph.tensor(graph.ops[i].output);
    if (!output.needs_gradient) continue;
    const int summands = gradients_to_add(graph, graph.ops[i].output);
    if (summands > 1) step.backward.push_back({Pass::gradient_sum, id, {}, summands});
    append_backward(graph, id, step.backward);
  }
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const ParameterId id{static_cast<std::int32_t>(i)};
    step.update.push_back({Pass::update, graph.parameters[i].op, id, 0});
  }
  return step;
}

}  // namespace tbdsim
