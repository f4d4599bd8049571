#include "model/cost/fusion.hpp"

#include <algorithm>

namespace tbdsim {

bool fused_away(const OpGraph& graph, const Op& op, const Stack& stack) {
  if (op.kind != OpKind::activation && op.kind != OpKind::add) return false;
  if (stack.operators.fuses_elementwise) return true;
  if (!stack.operators.fuses_batch_norm_relu || op.kind != OpKind::activation) return false;
  const Op& producer = graph.op(graph.tensor(op.inputs.front()).producer);
  return producer.kind == OpKind::batch_norm || joins_batch_norm(graph, producer, stack);
}

bool joins_batch_norm(const OpGraph& graph, const Op& op, const Stack& stack) {
  if (op.kind != OpKind::add || !stack.operators.fuses_batch_norm_relu || !stack.operators.channels_last) return false;
  return std::ranges::any_of(op.inputs,
                             [&](TensorId input) { return graph.op(graph.tensor(input).producer).kind == OpKind::batch_norm; });
}

}  // namespace tbdsim
