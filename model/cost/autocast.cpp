#include "model/cost/autocast.hpp"

#include <algorithm>

namespace tbdsim {

std::vector<Bytes> autocast_widths(const OpGraph& graph, Bytes narrow) {
  constexpr Bytes kSingle{4.0};
  const auto at = [](TensorId tensor) { return static_cast<std::size_t>(tensor.value); };
  std::vector<Bytes> widths(graph.tensors.size(), narrow);
  for (const Op& op : graph.ops) {
    const AutocastRule rule = info(op.kind).autocast;
    Bytes& width = widths[at(op.output)];
    if (rule == AutocastRule::wide || rule == AutocastRule::joined) width = kSingle;
    if (rule != AutocastRule::widest) continue;
    for (const TensorId input : op.inputs) width = std::max(width, widths[at(input)]);
  }
  return widths;
}

}  // namespace tbdsim
