#pragma once
#include <vector>

#include "model/support/result.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// What one of `ways` GPUs computes of a network whose layers are divided over them, as Megatron does it.
///
/// A linear layer that reads a whole tensor makes a share of its outputs (its columns are divided, as are whole attention
/// heads); the next one reads shares and makes a whole (its rows are divided, the results are added over the GPUs). What
/// lies between works on shares; the rest of a layer, norms, residual sums and dropout on them, is computed on every GPU.
/// Tables of words are divided by rows, and the loss is computed on shares of the scores. Extents that do not divide are
/// rounded up, as Megatron pads its vocabulary. Names and order of operators stay.
/// Source: Shoeybi et al., arXiv:1909.08053.
/// Errors: no attention in the network; heads that do not divide.
[[nodiscard]] Result<OpGraph> tensor_share(const OpGraph& graph, int ways);

/// The stage of each operator when the layers of a network are divided evenly over `stages` in their order: layers as
/// `Recompute::layer` has them, what lies before the first with the first stage, what follows the last with the last.
/// Errors: fewer layers than stages.
[[nodiscard]] Result<std::vector<int>> even_stages(const OpGraph& graph, int stages);

/// The operators of one stage as a network of their own: what they read of other stages is its input, and an operator
/// that trains another stage's array (scores over the table of words) has a copy of it, as Megatron keeps.
/// Expects `stage` to name the stage of each operator, in rising order.
[[nodiscard]] OpGraph stage_share(const OpGraph& graph, const std::vector<int>& stage, int which);

}  // namespace tbdsim
