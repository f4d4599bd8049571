#pragma once
#include <cstdint>
#include <vector>

#include "model/workload/onnx/value_graph.hpp"

namespace tbdsim::onnx {

/// What a group of nodes computes that a framework runs as one operator.
enum class Pattern : std::uint8_t {
  none,
  inner,       ///< part of a group, not its end
  layer_norm,  ///< mean, difference, square, mean, root, ratio, scale, shift
  group_norm,  ///< instance norm between two reshapes, scale, shift
  rms_norm,    ///< square, mean, root, ratio, scale
  rope,        ///< x times cosines plus its turned halves times sines
  gelu,        ///< by erf, or by tanh of a cubic
  silu,        ///< x times sigmoid(x)
  hardswish,   ///< x times hardsigmoid(x)
  attention,   ///< products of queries with keys and of their softmax with values, heads split and joined
};

/// What stands for a node. The last node of a group carries the group.
struct Lift {
  Pattern pattern = Pattern::none;
  ValueIndex input = kAbsent, gamma = kAbsent, beta = kAbsent;
  ValueIndex keys = kAbsent, values = kAbsent;  ///< attention, beside the queries
  ValueIndex parts = kAbsent;  ///< a value whose dimensions tell the groups (its only one) or the heads (its second)
  bool turns_queries = false, turns_keys = false;  ///< attention: positions turn them first
};

/// Adds the groups of attention.
void find_attention(const ValueGraph& graph, std::vector<Lift>& lifts);

/// Finds groups, by node. A group is lifted only where nothing outside reads what it computes inside.
/// `fused_attention`: the exporter's framework has attention as one operator.
[[nodiscard]] std::vector<Lift> find_patterns(const ValueGraph& graph, bool fused_attention);

}  // namespace tbdsim::onnx
