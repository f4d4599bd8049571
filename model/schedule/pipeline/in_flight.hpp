#pragma once
#include <span>
#include <vector>

#include "model/schedule/pipeline/pipeline_schedule.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim::pipeline {

/// What the weights blocks still need of a micro-batch's activations, as a share of them: 32sbh of 34sbh bytes of a transformer
/// layer with fused attention. Source: arXiv:2401.10241, table 1.
inline constexpr double kShareForWeights = 32.0 / 34.0;

/// What one micro-batch keeps of a chunk.
struct ChunkActivations {
  Bytes kept;         ///< from the start of its forward to the end of its backward
  Bytes for_weights;  ///< from there to the end of its weights block; nothing is kept where the backward is whole
};

/// Activations that a rank holds while each of its blocks runs, in their order. A forward block counts from its start, a backward
/// or weights block frees at its end; of a joined pair the forward comes first. Independent of times: the order on a rank is
/// fixed. Expects one entry of `chunks` for each chunk.
[[nodiscard]] std::vector<Bytes> activations(const PipelineSchedule& schedule, std::int32_t rank,
                                             std::span<const ChunkActivations> chunks);

/// The most micro-batches in flight on a rank, counted by chunks: v of them hold what one micro-batch keeps of the whole rank.
/// `share_for_weights` of each stays from the backward to the weights block.
[[nodiscard]] double peak_in_flight(const PipelineSchedule& schedule, std::int32_t rank,
                                    double share_for_weights = kShareForWeights);

}  // namespace tbdsim::pipeline
