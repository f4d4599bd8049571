#pragma once
#include "model/configuration/configuration.hpp"
#include "model/configuration/predict_options.hpp"

namespace tbdsim {

/// How many layers each stage of a pipeline has, where that is said by hand. Layers of a first or a last GPU are shared evenly by
/// its parts of the network, and the other GPUs share the rest evenly. Expects the layout, its schedule and the network.
/// Errors: no pipeline; numbers that do not add up to the layers; no whole number for a stage; ends that share a GPU.
/// Source: Megatron-LM, megatron/core/transformer/transformer_block.py (get_num_layers_to_build):
/// num_layers_in_first_pipeline_stage and its like are of a rank, and `num_layers_per_pipeline_rank` must divide by the parts of
/// each.
[[nodiscard]] Errors choose_stages(const PredictOptions& options, Configuration& configuration);

/// Layers of all stages of `ranks` GPUs with `parts` each, of which the first and the last GPU have so many where said.
/// Errors: as above.
[[nodiscard]] Result<std::vector<int>> stages_by_ends(int layers, int ranks, int parts, std::optional<int> first,
                                                      std::optional<int> last);

/// The rank of a pipeline that holds each stage. Stages that are held twice, once for each direction, count as of half as many
/// ranks, a pair of which holds the same two. One rank without a pipeline.
[[nodiscard]] std::vector<int> ranks_of_stages(const Configuration& configuration);

/// Layers of the GPUs at the ends of a pipeline.
struct PipelineEnds {
  std::optional<int> first, last;
};
/// Those that say the layers of all stages; nothing: none do, or stages have them evenly.
[[nodiscard]] std::optional<PipelineEnds> ends_of(const Configuration& configuration);

}  // namespace tbdsim
