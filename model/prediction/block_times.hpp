#pragma once
#include <span>
#include <vector>

#include "model/configuration/configuration.hpp"
#include "model/prediction/rank_step.hpp"
#include "model/schedule/pipeline/simulate_pipeline.hpp"

namespace tbdsim {

/// How much shorter a forward and a backward pass are that run together: what each exposes of its experts' exchange runs beside
/// the other's kernels. Neglects that kernels are slower beside calls.
struct PairSaving {
  Seconds forward, backward;  ///< of the forward pass, min(exposed F, kernels B); of the backward pass, min(exposed B, kernels F)
  [[nodiscard]] Seconds both() const { return forward + backward; }
};
[[nodiscard]] PairSaving pair_saving(const PassTime& forward, const PassTime& backward);
/// Of every rank the mean of its chunks with each other. Empty: the table joins nothing, or there is nothing to hide.
[[nodiscard]] std::vector<PairSaving> pair_savings(const pipeline::PipelineSchedule& table, std::span<const ChunkPass> chunks);
/// Pairs of blocks that a rank runs together.
[[nodiscard]] int joined_pairs(const pipeline::PipelineSchedule& table, int rank);

/// What the blocks of a configuration's table take. `chunks`: of the network, in order; `hop`: from a stage to the next.
[[nodiscard]] pipeline::BlockTimes block_times(const Configuration& configuration, const pipeline::PipelineSchedule& table,
                                               std::span<const ChunkPass> chunks, Seconds hop);

}  // namespace tbdsim
