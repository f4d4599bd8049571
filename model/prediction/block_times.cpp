#include "model/prediction/block_times.hpp"

namespace tbdsim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

pipeline::BlockTimes block_times(const Configuration& configuration, const pipeline::PipelineSchedule& table,
                                 std::span<const ChunkPass> chunks, Seconds hop) {
  pipeline::BlockTimes times;
  times.transfer =
      configuration.stack.parallel.pipeline.blocking_hops ? pipeline::Transfer::blocking : pipeline::Transfer::overlapped;
  for (int rank = 0; rank < table.shape.ranks; ++rank) {
    for (int place = 0; place < table.shape.chunks; ++place) {
      const ChunkPass& chunk = chunks[at(table.stage_of({rank, place}))];
      times.places.push_back({SimTime::from(chunk.forward.time), SimTime::from(chunk.backward.time - chunk.weights),
                              SimTime::from(chunk.weights), SimTime::from(hop)});
    }
  }
  return times;
}

}  // namespace tbdsim
