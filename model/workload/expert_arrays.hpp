#pragma once
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// Whether an operator's arrays are those of experts, which ranks of the expert axis divide: they have fewer copies than the rest
/// of the network (`Layout::expert_data`).
[[nodiscard]] inline bool is_of_experts(const Op& op) { return op.kind == OpKind::grouped_linear; }
[[nodiscard]] inline bool is_of_experts(const OpGraph& graph, const Parameter& parameter) {
  return is_of_experts(graph.op(parameter.op));
}

}  // namespace tbdsim
