#include "model/workload/attention_ops.hpp"

#include <optional>

namespace tbdsim {
namespace {

// Operators between a product and the softmax, or from there to the product with the values: scale, mask, reshape, dropout, and a
// layer that makes a number of each pair's features.
constexpr int kLongestWay = 10;

bool pairs(OpKind kind) { return kind == OpKind::matmul || kind == OpKind::pairwise_add; }

/// Operators from the softmax back to where pairs are made; nothing if there is no such place near.
std::optional<std::vector<OpId>> scores(const OpGraph& graph, const Op& softmax) {
  std::vector<OpId> way;
  const Op* op = &softmax;
  for (int i = 0; i < kLongestWay && !op->inputs.empty(); ++i) {
    way.push_back(graph.tensor(op->inputs.front()).producer);
    op = &graph.op(way.back());
    if (pairs(op->kind)) return way;
  }
  return std::nullopt;
}

/// Operators from the softmax on to the product with the values.
std::optional<std::vector<OpId>> context(const OpGraph& graph, const Op& softmax) {
  std::vector<OpId> way;
  TensorId tensor = softmax.output;
  for (int i = 0; i < kLongestWay && graph.tensor(tensor).consumers.size() == 1; ++i) {
    way.push_back(graph.tensor(tensor).consumers.front());
    const Op& op = graph.op(way.back());
    if (op.kind == OpKind::matmul) return way;
    tensor = op.output;
  }
  return std::nullopt;
}

}  // namespace

std::vector<bool> attention_ops(const OpGraph& graph) {
  std::vector<bool> attends(graph.ops.size(), false);
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    if (info(op.kind).family == OpFamily::attention) attends[i] = true;
    if (op.kind != OpKind::softmax) continue;
    const auto before = scores(graph, op), after = context(graph, op);
    if (!before || !after) continue;
    attends[i] = true;
    for (const auto* way : {&*before, &*after})
      for (const OpId id : *way) attends[static_cast<std::size_t>(id.value)] = true;
  }
  return attends;
}

}  // namespace tbdsim
