#pragma once
#include <string_view>

#include "model/workload/training_step.hpp"

namespace tbdsim {

/// What is computed again in the backward pass instead of being kept.
enum class Recompute {
  none,
  block,  ///< each block (what lies between two points that only one tensor crosses: a residual unit, convolutions up to a pool)
  layer,  ///< each layer: blocks joined so that each has an attention; without attention as `block`
  full,   ///< groups of as many blocks as keep least: inputs of all groups and the maps of the largest one
};
[[nodiscard]] std::string_view name(Recompute recompute);  ///< "block", as on the command line

/// First operators of the segments that are recomputed as one, the first being operator 0.
///
/// Segments may only meet where one tensor crosses and the next operator does not overwrite it. `full` after Chen et
/// al., arXiv:1604.06174, with groups of whole blocks.
[[nodiscard]] std::vector<OpId> recompute_segments(const OpGraph& graph, Recompute recompute);

/// The step with the forward nodes of every segment but the last repeated before the segment's first backward node. Of a
/// stage of a pipeline that holds no loss the last one too (`all`): other micro-batches run before its backward.
[[nodiscard]] TrainingStep with_recompute(const OpGraph& graph, TrainingStep step, Recompute recompute, bool all = false);

}  // namespace tbdsim
