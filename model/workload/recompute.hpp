#pragma once
#include <string_view>

#include "model/workload/training_step.hpp"

namespace tbdsim {

/// What is computed again in the backward pass instead of being kept.
enum class Recompute {
  none,
  attention,  ///< what lies between the products of attention's projections ("selective" in Megatron-LM)
  operators,  ///< all but each layer's every second product, attention and sums over ranks ("selective" in torchtitan)
  block,   ///< each block (what lies between two points that only one tensor crosses: a residual unit, convolutions up to a pool)
  layer,   ///< each layer: blocks joined so that each has an attention; without attention as `block`
  full,    ///< groups of as many blocks as keep least: inputs of all groups and the maps of the largest one
  mirror,  ///< MXNet's own: single operators, as `mirrored` says
};
[[nodiscard]] std::string_view name(Recompute recompute);  ///< "block", as on the command line; "selective"

/// Whether MXNet computes an operator's output again where backward asks for it (`OperatorRow::mirrored`). Neglects that it does
/// so with recurrent layers, too, whose steps are kept here.
[[nodiscard]] bool mirrored(const Op& op);

/// First operators of the segments that are recomputed as one, the first being operator 0.
///
/// Segments may only meet where one tensor crosses and the next operator does not overwrite it. `full` after Chen et
/// al., arXiv:1604.06174, with groups of whole blocks.
[[nodiscard]] std::vector<OpId> recompute_segments(const OpGraph& graph, Recompute recompute);

/// Whether each operator is computed again under `attention` or `operators`. Those after the last layer never are.
/// Sources: arXiv:2205.05198, section 4.2; pytorch/torchtitan, torchtitan/distributed/activation_checkpoint.py (operators that
/// are kept, and every second product, counted from the start of each block: selective_checkpointing_context_fn).
[[nodiscard]] std::vector<bool> selected_again(const OpGraph& graph, Recompute recompute);

/// What is repeated. A framework may stop where all that backward reads is there again, so that the last product of a layer and
/// the sum over ranks behind it, whose results backward does not read, run once. Source: torch/utils/checkpoint.py
/// (early_stop: the recomputation ends as the last kept tensor is packed, which a product's are before it runs).
struct Repetition {
  Repetition(Recompute recompute, bool stops_early = false) : what(recompute), stops(stops_early) {}
  Recompute what;
  bool stops;  ///< under `block`, `layer` and `full`
};

/// Of each operator whether it is repeated before its segment's backward pass, under `block`, `layer` and `full`: all, or none
/// behind the last tensor of its segment that backward reads.
[[nodiscard]] std::vector<bool> repeated_of_segments(const OpGraph& graph, Repetition repetition);

/// The step with the forward nodes of every segment but the last repeated before the segment's first backward node. Of a
/// stage of a pipeline that holds no loss the last one too (`all`): other micro-batches run before its backward. `mirror`: with
/// the forward node of every such operator repeated before the first backward node that reads its output or is its own.
[[nodiscard]] TrainingStep with_recompute(const OpGraph& graph, TrainingStep step, Repetition repetition, bool all = false);

}  // namespace tbdsim
