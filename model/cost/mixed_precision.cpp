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

}  // namespace

Casts array_casts(const OpGraph& graph, const Op& op, Pass pass, const Stack& stack) {
  const bool narrow =
      info(op.kind).autocast == AutocastRule::narrow || (op.kind == OpKind::layer_norm && stack.operators.amp.narrow_norms);
  if (stack.operators.amp.all_16_bit || !narrow || pass == Pass::backward_data) return {};
  Casts casts{tied_table(graph, op), 0};
  if (casts.numbers > 0.0) casts.kernels = 1;
  for (const ParameterId id : op.parameters) casts.numbers += static_cast<double>(elements(graph.parameter(id).shape));
  casts.kernels += static_cast<int>(op.parameters.size());
  return casts;
}

MixedNumbers mixed_numbers(const OpGraph& graph, const Op& op, const Stack& stack) {
  const double in = static_cast<double>(elements(graph.input_shape(op))),
               out = static_cast<double>(elements(graph.output_shape(op)));
  if (op.kind == OpKind::softmax_loss) return {kSingle, {in, 1}};
  if (stack.operators.amp.all_16_bit) return {};
  if (op.kind == OpKind::embedding) return {kSingle, {}};
  const auto passes = memory_passes(op, stack);
  const bool rows = op.kind == OpKind::softmax || (passes && passes->rows != RowKernel::none);
  return rows ? MixedNumbers{kSingle, {in + out, 2}} : MixedNumbers{};
}

}  // namespace tbdsim
