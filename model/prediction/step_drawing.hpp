#pragma once
#include <cstdint>
#include <vector>

#include "model/schedule/pipeline/pipeline_schedule.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// A pass of one micro-batch over one part of the network, as a timeline shows it.
struct DrawnBlock {
  pipeline::BlockKind kind = pipeline::BlockKind::forward;
  int stage = 0;  ///< part of the network, counted from its input
  int micro_batch = 0;
  Seconds start, time;
  Seconds idle;     ///< of the rank, before it
  Seconds exposed;  ///< of `time`: waiting for collectives within the pass, wherever in it they are
  Bytes held;       ///< memory of the rank while it runs
};

/// One rank of a pipeline over a step: its blocks, then what it waits for of the gradients' exchange, then its update.
struct DrawnRank {
  std::vector<DrawnBlock> blocks;
  Seconds exchange_start, exchange;  ///< waited for
  Seconds update_start, update;
};

/// The timeline of a step that is simulated layer by layer: one row for each rank of its pipeline.
struct StepDrawing {
  std::vector<DrawnRank> ranks;  ///< empty: not drawn
  /// Micro-batches that are drawn: the first ones and the last ones; of so many.
  int drawn = 0, micro_batches = 0;
};

}  // namespace tbdsim
