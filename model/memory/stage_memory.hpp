#pragma once
#include <cstdint>
#include <span>

#include "model/memory/footprint.hpp"

namespace tbdsim {

/// A pipeline whose stage i lies on rank i.
struct PipelineMemory {
  std::span<const std::int32_t> stage_of;  ///< of each operator
  std::int32_t stages = 1;
  int in_flight = 1;  ///< micro-batches of which a stage keeps the feature maps before its first backward pass
};

/// Memory of each stage: weights, gradients and optimiser state of its own operators, their feature maps for every
/// micro-batch in flight (GPipe runs forward of all first; Huang et al., NeurIPS 2019), and as often what arrives from other
/// stages. Frameworks that allocate as they run replay their allocator on each stage; a plan made before the step is taken
/// to have on each stage the holes of the whole network's, and Caffe2 to give nothing back.
///
/// `ranks` holds every stage; the rest describes the stage that needs most. Expects `options` of one rank, and a stage for
/// every operator. Neglects a feature map's copy while it is sent, the gradient while it arrives, and a second copy of
/// arrays that operators of two stages train (tied embeddings).
[[nodiscard]] StepMemory pipeline_memory(const OpGraph& graph, std::span<const StepNode> nodes, std::span<const NodeCost> costs,
                                         const Stack& stack, const FootprintOptions& options, const PipelineMemory& pipeline);

}  // namespace tbdsim
