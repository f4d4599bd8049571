#include "model/schedule/pipeline/simulate_pipeline.hpp"

#include <algorithm>
#include <cassert>

#include "model/schedule/pipeline/block_order.hpp"

namespace tbdsim::pipeline {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// The clocks of all ranks while the table is walked.
class Clocks {
 public:
  Clocks(const PipelineSchedule& schedule, const BlockTimes& times, const BlockOrder& order, Spans spans)
      : schedule_(schedule),
        times_(times),
        order_(order),
        end_(2 * at(schedule.stages()) * at(schedule.shape.micro_batches)),
        sent_(at(schedule.shape.ranks)) {
    run_.busy.resize(at(schedule.shape.ranks));
    run_.finished.resize(at(schedule.shape.ranks));
    if (spans == Spans::all) run_.spans.resize(schedule.blocks.size());
  }

  void visit(std::int32_t rank, std::size_t i, std::int32_t together) {
    const Block& first = schedule_.blocks[i];
    SimTime start = earliest(rank, first), duration = takes(rank, first), sending = sends(rank, first);
    if (together == 2) {
      const Block& second = schedule_.blocks[i + 1];
      start = std::max(start, earliest(rank, second));
      duration += takes(rank, second);
      if (!times_.saved.empty()) duration = std::max(SimTime{}, duration - times_.saved[at(rank)]);
      sending = std::max(sending, sends(rank, second));
    }
    const SimTime end = start + duration;
    run_.busy[at(rank)] += duration;
    run_.finished[at(rank)] = end;
    sent_[at(rank)] = end + sending;
    for (std::size_t k = i; k < i + at(together); ++k) {
      const Block& block = schedule_.blocks[k];
      if (block.kind != BlockKind::weights)
        end_[order_.pass(block.kind, block.micro_batch, order_.route(rank, block).stage)] = end;
      if (!run_.spans.empty()) run_.spans[k] = {start, end};
    }
  }

  [[nodiscard]] PipelineRun finished() {
    for (const SimTime end : run_.finished) run_.makespan = std::max(run_.makespan, end);
    for (const SimTime busy : run_.busy) run_.idle.push_back(run_.makespan - busy);
    return std::move(run_);
  }

 private:
  [[nodiscard]] const ChunkTime& time_of(std::int32_t rank, const Block& block) const {
    return times_.places[at(rank * schedule_.shape.chunks + block.chunk)];
  }
  [[nodiscard]] SimTime takes(std::int32_t rank, const Block& block) const {
    const ChunkTime& time = time_of(rank, block);
    if (block.kind == BlockKind::forward) return time.forward;
    if (block.kind == BlockKind::weights) return time.weights;
    return block.whole ? time.backward + time.weights : time.backward;
  }
  /// When the block may start by its rank and by what it reads.
  [[nodiscard]] SimTime earliest(std::int32_t rank, const Block& block) const {
    const PlaceRoute& route = order_.route(rank, block);
    const bool forward = block.kind == BlockKind::forward;
    const std::int32_t from = forward ? route.before : route.behind;
    if (block.kind == BlockKind::weights || from < 0) return sent_[at(rank)];
    const SimTime made = end_[order_.pass(block.kind, block.micro_batch, route.stage + (forward ? -1 : 1))];
    if (from == rank) return std::max(sent_[at(rank)], made);
    const SimTime hop = forward ? times_.places[at(route.place_before)].hop : time_of(rank, block).hop;
    // A blocking receive is posted when the rank's last block has ended, and lasts as long as the hop from then on.
    const SimTime posted = times_.transfer == Transfer::blocking ? std::max(made, run_.finished[at(rank)]) : made;
    return std::max(sent_[at(rank)], posted + hop);
  }
  /// How long the rank is held by sending the block's result.
  [[nodiscard]] SimTime sends(std::int32_t rank, const Block& block) const {
    if (times_.transfer == Transfer::overlapped || block.kind == BlockKind::weights) return {};
    const PlaceRoute& route = order_.route(rank, block);
    const bool forward = block.kind == BlockKind::forward;
    const std::int32_t to = forward ? route.behind : route.before;
    if (to < 0 || to == rank) return {};
    return forward ? time_of(rank, block).hop : times_.places[at(route.place_before)].hop;
  }

  const PipelineSchedule& schedule_;
  const BlockTimes& times_;
  const BlockOrder& order_;
  std::vector<SimTime> end_;   // of every pass
  std::vector<SimTime> sent_;  // of every rank: when it may go on after its last block
  PipelineRun run_;
};

}  // namespace

BlockTimes equal_times(const PipelineSchedule& schedule, ChunkTime time) {
  return {std::vector<ChunkTime>(at(schedule.shape.ranks * schedule.shape.chunks), time), Transfer::overlapped, {}};
}

PipelineRun simulate(const PipelineSchedule& schedule, const BlockTimes& times, Spans spans) {
  assert(times.places.size() == at(schedule.shape.ranks * schedule.shape.chunks));
  BlockOrder order(schedule);
  Clocks clocks(schedule, times, order, spans);
  [[maybe_unused]] const bool complete =
      order.walk([&](std::int32_t rank, std::size_t i, std::int32_t together) { clocks.visit(rank, i, together); });
  assert(complete);
  return clocks.finished();
}

}  // namespace tbdsim::pipeline
