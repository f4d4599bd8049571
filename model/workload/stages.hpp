#pragma once
#include <vector>

#include "model/support/result.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// Whether the network multiplies feature maps with each other.
[[nodiscard]] bool has_attention(const OpGraph& graph);

/// Layers of a network that stages of a pipeline divide: those of `Recompute::layer`, without the head.
[[nodiscard]] int layers_of_stages(const OpGraph& graph);

/// The first layer of each of `stages` stages, and `layers`, their sum. `sizes`: layers of each stage; empty: stages, and the
/// ranks that hold several, are as even as whole layers allow. `ranks`: that of each stage, counted from 0; empty: each has its
/// own. Expects no more stages than layers, sizes that add up to them, and ranks each of which has one stage in every run of as
/// many stages as there are ranks.
[[nodiscard]] std::vector<int> first_layers(int stages, int layers, const std::vector<int>& sizes,
                                            const std::vector<int>& ranks = {});

/// The stage of each operator when the layers of a network are divided over `stages` in their order: what lies before the first
/// layer goes with the first stage, what follows the last with the last. `sizes` and `ranks` as above.
/// Errors: fewer layers than stages. Expects what `first_layers` does.
[[nodiscard]] Result<std::vector<int>> stages_of(const OpGraph& graph, int stages, const std::vector<int>& sizes = {},
                                                 const std::vector<int>& ranks = {});

/// The operators of one stage as a network of their own: what they read of other stages is its input, and an operator
/// that trains another stage's array (scores over the table of words) has a copy of it, as Megatron keeps.
/// Expects `stage` to name the stage of each operator.
[[nodiscard]] OpGraph stage_share(const OpGraph& graph, const std::vector<int>& stage, int which);

}  // namespace tbdsim
