#pragma once
#include "model/stack/stack.hpp"
#include "model/workload/op_graph.hpp"
#include "model/workload/pass.hpp"

namespace tbdsim {

/// Whether another operator's kernel does the work of this one in this pass: a compiler's kernels take additions and activations
/// on where they read or write the same numbers anyway; batch norms of some stacks take their ReLU, and a sum that they join.
[[nodiscard]] bool fused_away(const OpGraph& graph, const Op& op, Pass pass, const Stack& stack);

/// Numbers that a fused operator's pass moves for each sample beside those of the kernel that does its work: the other summand, a
/// sum that more than one layer reads, results that a gradient goes by.
[[nodiscard]] double fused_numbers(const OpGraph& graph, const Op& op, Pass pass, const Stack& stack);

/// Whether a batch norm with channels last adds it to its result on the way.
[[nodiscard]] bool joins_batch_norm(const OpGraph& graph, const Op& op, const Stack& stack);

}  // namespace tbdsim
