#pragma once
#include <vector>

#include "model/schedule/pipeline/pipeline_schedule.hpp"
#include "model/units/sim_time.hpp"

namespace tbdsim::pipeline {

/// What a chunk takes for one micro-batch.
struct ChunkTime {
  SimTime forward;
  SimTime backward;  ///< gradients of the inputs
  SimTime weights;   ///< gradients of the weights; a backward block without a weights block takes both
  SimTime hop;       ///< its output on the way to the rank of the next stage, and equally the gradient on the way back
};

/// How feature maps and gradients travel between ranks.
enum class Transfer {
  overlapped,  ///< beside computation: a hop delays only the block that needs it
  /// The ranks at both ends wait for it. What a rank sends after a block and receives before its next one travels at the same
  /// time, as in Megatron's batched calls, so both take the longer of the two. A sender does not wait for a busy receiver.
  blocking,
};

/// What the blocks of a table take. Durations are rounded to the clock once, where they are filled in.
struct BlockTimes {
  std::vector<ChunkTime> places;  ///< of every place, by rank x chunks + chunk; the hop of the last stage has no effect
  Transfer transfer = Transfer::overlapped;
  std::vector<SimTime> saved;  ///< by rank: how much less a joined pair takes than its two blocks in turn; empty: nothing
};

/// The same times for every place.
[[nodiscard]] BlockTimes equal_times(const PipelineSchedule& schedule, ChunkTime time);

struct BlockSpan {
  SimTime start, end;
};

struct PipelineRun {
  SimTime makespan;               ///< from the start of the first block to the end of the last
  std::vector<SimTime> busy;      ///< by rank: its blocks; a joined pair counts once
  std::vector<SimTime> idle;      ///< by rank: the bubble, makespan - busy; includes waiting for transfers
  std::vector<SimTime> finished;  ///< by rank: the end of its last block
  std::vector<BlockSpan> spans;   ///< by block, where asked for; both blocks of a joined pair span the pair
};

enum class Spans { none, all };

/// Runs a table: every block starts when its rank is free and what it needs has arrived. A joined pair starts when both can, and
/// both results leave at its end.
///
/// A longest path over the table's blocks, in proportion to their number. Exact: the clock is in whole picoseconds.
/// Hops between two chunks of one rank cost nothing. Ignores: contention between transfers.
/// Expects a table without problems (check_schedule.hpp), a ChunkTime for each place and no negative time.
[[nodiscard]] PipelineRun simulate(const PipelineSchedule& schedule, const BlockTimes& times, Spans spans = Spans::none);

}  // namespace tbdsim::pipeline
