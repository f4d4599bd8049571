#include "model/cost/autocast.hpp"

#include <algorithm>

namespace tbdsim {

AutocastRule autocast_rule(OpKind kind) {
  switch (kind) {
    case OpKind::convolution:
    case OpKind::transposed_convolution:
    case OpKind::linear:
    case OpKind::matmul:
    case OpKind::attention:
    case OpKind::lstm:
    case OpKind::gru:
    case OpKind::vanilla_rnn:
      return AutocastRule::narrow;
    case OpKind::softmax:
    case OpKind::layer_norm:
    case OpKind::group_norm:
      return AutocastRule::wide;
    case OpKind::input:
    case OpKind::embedding:
    case OpKind::learned_bias:
    case OpKind::prepend_token:
      return AutocastRule::joined;
    default:
      return is_loss(kind) ? AutocastRule::wide : AutocastRule::widest;
  }
}

std::vector<Bytes> autocast_widths(const OpGraph& graph, Bytes narrow) {
  constexpr Bytes kSingle{4.0};
  const auto at = [](TensorId tensor) { return static_cast<std::size_t>(tensor.value); };
  std::vector<Bytes> widths(graph.tensors.size(), narrow);
  for (const Op& op : graph.ops) {
    const AutocastRule rule = autocast_rule(op.kind);
    Bytes& width = widths[at(op.output)];
    if (rule == AutocastRule::wide || rule == AutocastRule::joined) width = kSingle;
    if (rule != AutocastRule::widest) continue;
    for (const TensorId input : op.inputs) width = std::max(width, widths[at(input)]);
  }
  return widths;
}

}  // namespace tbdsim
