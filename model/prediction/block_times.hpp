#pragma once
#include <span>

#include "model/configuration/configuration.hpp"
#include "model/prediction/rank_step.hpp"
#include "model/schedule/pipeline/simulate_pipeline.hpp"

namespace tbdsim {

/// What the blocks of a configuration's table take. `chunks`: of the network, in order; `hop`: from a stage to the next.
[[nodiscard]] pipeline::BlockTimes block_times(const Configuration& configuration, const pipeline::PipelineSchedule& table,
                                               std::span<const ChunkPass> chunks, Seconds hop);

}  // namespace tbdsim
