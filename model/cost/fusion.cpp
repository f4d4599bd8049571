#include "model/cost/fusion.hpp"

#include <algorithm>

namespace tbdsim {

namespace {

/// Whether a softmax follows, perhaps behind another mask or factor.
bool feeds_softmax(const OpGraph& graph, const Op& op) {
  return std::ranges::any_of(graph.tensor(op.output).consumers, [&](OpId id) {
    const Op& reader = graph.op(id);
    return reader.kind == OpKind::softmax ||
           ((reader.kind == OpKind::mask || reader.kind == OpKind::multiply) && feeds_softmax(graph, reader));
  });
}

bool follows_dropout(const OpGraph& graph, const Op& op) {
  return std::ranges::any_of(op.inputs,
                             [&](TensorId input) { return graph.op(graph.tensor(input).producer).kind == OpKind::dropout; });
}

}  // namespace

bool fused_away(const OpGraph& graph, const Op& op, const Stack& stack) {
  if (stack.operators.fusion.softmax && (op.kind == OpKind::mask || op.kind == OpKind::multiply)) return feeds_softmax(graph, op);
  if (stack.operators.fusion.residual && op.kind == OpKind::add && follows_dropout(graph, op)) return true;
  if (op.kind != OpKind::activation && op.kind != OpKind::add) return false;
  if (stack.operators.fusion.elementwise) return true;
  if (!stack.operators.fusion.batch_norm_relu || op.kind != OpKind::activation) return false;
  const Op& producer = graph.op(graph.tensor(op.inputs.front()).producer);
  return producer.kind == OpKind::batch_norm || joins_batch_norm(graph, producer, stack);
}

bool joins_batch_norm(const OpGraph& graph, const Op& op, const Stack& stack) {
  if (op.kind != OpKind::add || !stack.operators.fusion.batch_norm_relu || !stack.operators.order.channels_last) return false;
  return std::ranges::any_of(op.inputs,
                             [&](TensorId input) { return graph.op(graph.tensor(input).producer).kind == OpKind::batch_norm; });
}

}  // namespace tbdsim
