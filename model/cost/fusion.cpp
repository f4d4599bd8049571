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

/// A compiler's kernel that takes on elementwise work beside it.
bool takes_on(OpKind kind) {
  return info(kind).normalizes || kind == OpKind::dropout || kind == OpKind::multiply || kind == OpKind::learned_bias ||
         kind == OpKind::learned_scale || kind == OpKind::concat;
}

bool elementwise(OpKind kind) { return kind == OpKind::add || kind == OpKind::activation; }

/// Whether the kernel that makes an input does the work: then it writes the result in the input's place.
bool follows_kernel(const OpGraph& graph, const Op& op) {
  return std::ranges::any_of(op.inputs, [&](TensorId input) {
    const Tensor& tensor = graph.tensor(input);
    const Op& producer = graph.op(tensor.producer);
    return takes_on(producer.kind) ||
           (elementwise(producer.kind) && tensor.consumers.size() == 1 && follows_kernel(graph, producer));
  });
}

bool precedes_kernel(const OpGraph& graph, const Op& op) {
  return std::ranges::any_of(graph.tensor(op.output).consumers, [&](OpId id) { return takes_on(graph.op(id).kind); });
}

/// The library adds the bias on the way, or a kernel of the compiler's does: either takes an activation, too.
bool follows_bias(const OpGraph& graph, const Op& op) {
  const auto* convolution = std::get_if<ConvolutionAttributes>(&graph.op(graph.tensor(op.inputs.front()).producer).attributes);
  return convolution != nullptr && convolution->bias;
}

/// Additions and activations under a compiler.
bool joins_kernel(const OpGraph& graph, const Op& op, Pass pass) {
  const bool forward = pass == Pass::forward;
  if (op.kind == OpKind::add) return !forward || follows_kernel(graph, op) || precedes_kernel(graph, op);
  return follows_kernel(graph, op) || precedes_kernel(graph, op) || (forward && follows_bias(graph, op));
}

}  // namespace

bool fused_away(const OpGraph& graph, const Op& op, Pass pass, const Stack& stack) {
  if (stack.operators.fusion.softmax && (op.kind == OpKind::mask || op.kind == OpKind::multiply)) return feeds_softmax(graph, op);
  if (stack.operators.fusion.residual && op.kind == OpKind::add && follows_dropout(graph, op)) return true;
  if (!elementwise(op.kind)) return false;
  if (stack.operators.fusion.elementwise) return joins_kernel(graph, op, pass);
  if (!stack.operators.fusion.batch_norm_relu || op.kind != OpKind::activation) return false;
  const Op& producer = graph.op(graph.tensor(op.inputs.front()).producer);
  return producer.kind == OpKind::batch_norm || joins_batch_norm(graph, producer, stack);
}

double fused_numbers(const OpGraph& graph, const Op& op, Pass pass, const Stack& stack) {
  const FusionSettings& fusion = stack.operators.fusion;
  const bool residual = fusion.residual && op.kind == OpKind::add && follows_dropout(graph, op);
  if (!residual && !(fusion.elementwise && elementwise(op.kind))) return 0.0;
  const auto out = static_cast<double>(elements(graph.output_shape(op)));
  if (pass == Pass::forward) {
    double numbers = 0.0;
    for (std::size_t i = 1; i < op.inputs.size(); ++i) numbers += static_cast<double>(elements(graph.tensor(op.inputs[i]).shape));
    const bool written = !follows_kernel(graph, op) && graph.tensor(op.output).consumers.size() > 1;
    return numbers + (written ? out : 0.0);
  }
  if (op.kind == OpKind::add || !fusion.reads_results) return 0.0;
  // A norm's gradients are two kernels: sums, and what follows from them.
  constexpr double kOfNorm = 2.0;
  return (info(graph.op(graph.tensor(op.inputs.front()).producer).kind).normalizes ? kOfNorm : 1.0) * out;
}

bool joins_batch_norm(const OpGraph& graph, const Op& op, const Stack& stack) {
  if (op.kind != OpKind::add || !stack.operators.fusion.batch_norm_relu || !stack.operators.order.channels_last) return false;
  return std::ranges::any_of(op.inputs,
                             [&](TensorId input) { return graph.op(graph.tensor(input).producer).kind == OpKind::batch_norm; });
}

}  // namespace tbdsim
