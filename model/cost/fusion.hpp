#pragma once
#include "model/stack/stack.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// Whether another operator's kernel does the work of this one: every addition and activation under a compiler; the ReLU of a
/// batch norm, or of a sum that it joins, where the stack's batch norm takes it.
[[nodiscard]] bool fused_away(const OpGraph& graph, const Op& op, const Stack& stack);

/// Whether a batch norm with channels last adds it to its result on the way.
[[nodiscard]] bool joins_batch_norm(const OpGraph& graph, const Op& op, const Stack& stack);

}  // namespace tbdsim
