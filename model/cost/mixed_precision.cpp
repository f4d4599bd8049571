#include "model/cost/mixed_precision.hpp"

#include <algorithm>

#include "model/cost/memory_bound.hpp"

namespace tbdsim {
namespace {

constexpr Bytes kSingle(4.0);

/// The table of vectors that a tied layer shares; 0 where it shares another array, which that one's operator casts.
double tied_table(const OpGraph& graph, const Op& op) {
  const auto* linear = std::get_if<LinearAttributes>(&op.attributes);
  if (linear == nullptr || !linear->tied) return 0.0;
  const Shape table{linear->out_features, graph.input_shape(op).back()};
  const bool found = std::ranges::any_of(graph.parameters, [&](const Parameter& parameter) {
    return graph.op(parameter.op).kind == OpKind::embedding && parameter.shape == table;
  });
  return found ? static_cast<double>(elements(table)) : 0.0;
}

/// Whether the result is fp32 under PyTorch's autocast: of a softmax, and of dropouts after one.
bool leaves_single(const OpGraph& graph, const Op& op) {
  const Op* at = &op;
  while (at->kind == OpKind::dropout) at = &graph.op(graph.tensor(at->inputs.front()).producer);
  return at->kind == OpKind::softmax;
}

bool feeds_dropout(const OpGraph& graph, const Op& op) {
  const auto& consumers = graph.tensor(op.output).consumers;
  return !consumers.empty() && std::ranges::all_of(consumers, [&](OpId id) { return graph.op(id).kind == OpKind::dropout; });
}

}  // namespace

Casts array_casts(const OpGraph& graph, const Op& op, Pass pass, const Stack& stack) {
  if (stack.operators.amp_16_bit || info(op.kind).autocast != AutocastRule::narrow || pass == Pass::backward_data) return {};
  Casts casts{tied_table(graph, op), 0};
  if (casts.numbers > 0.0) casts.kernels = 1;
  for (const ParameterId id : op.parameters) casts.numbers += static_cast<double>(elements(graph.parameter(id).shape));
  casts.kernels += static_cast<int>(op.parameters.size());
  return casts;
}

MixedNumbers mixed_numbers(const OpGraph& graph, const Op& op, const Stack& stack) {
  MixedNumbers how;
  const double in = static_cast<double>(elements(graph.input_shape(op))),
               out = static_cast<double>(elements(graph.output_shape(op)));
  const bool autocast = stack.host.eager && !stack.operators.amp_16_bit;
  if (op.kind == OpKind::softmax_loss) {
    how.element = kSingle;
    how.converts = autocast;
    if (!autocast) how.casts = {in, 1};
  } else if (stack.operators.amp_16_bit) {
    return how;
  } else if (op.kind == OpKind::softmax || op.kind == OpKind::dropout) {
    if (op.kind == OpKind::dropout && !(autocast && leaves_single(graph, op))) return how;
    how.element = kSingle;
    how.converts = autocast && op.kind == OpKind::softmax;
    how.casts = !autocast ? Casts{in + out, 2} : feeds_dropout(graph, op) ? Casts{} : Casts{out, 1};
  } else if (op.kind == OpKind::embedding) {
    how.element = kSingle;
  } else if (const auto passes = memory_passes(op, stack); passes && passes->rows != RowKernel::none) {
    how.element = kSingle;
    how.casts = {in + out, 2};
  }
  return how;
}

}  // namespace tbdsim
