#include "model/prediction/block_times.hpp"

#include <algorithm>

namespace tbdsim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

PairSaving pair_saving(const PassTime& forward, const PassTime& backward) {
  const auto exposed = [](const PassTime& pass) { return pass.exposed[static_cast<std::size_t>(Axis::expert)]; };
  return {std::min(exposed(forward), backward.kernels), std::min(exposed(backward), forward.kernels)};
}

int joined_pairs(const pipeline::PipelineSchedule& table, int rank) {
  const auto blocks = table.of_rank(rank);
  return static_cast<int>(std::count_if(blocks.begin(), blocks.end(), [](const pipeline::Block& b) { return b.joined; }));
}

std::vector<PairSaving> pair_savings(const pipeline::PipelineSchedule& table, std::span<const ChunkPass> chunks) {
  std::vector<PairSaving> saved;
  if (std::none_of(table.blocks.begin(), table.blocks.end(), [](const pipeline::Block& b) { return b.joined; })) return saved;
  bool any = false;
  for (int rank = 0; rank < table.shape.ranks; ++rank) {
    PairSaving sum;
    int pairs = 0;
    for (int forward = 0; forward < table.shape.chunks; ++forward)
      for (int backward = 0; backward < table.shape.chunks; ++backward) {
        if (forward == backward && table.shape.chunks > 1) continue;
        const PairSaving one = pair_saving(chunks[at(table.stage_of({rank, forward}))].forward,
                                           chunks[at(table.stage_of({rank, backward}))].backward);
        sum = {sum.forward + one.forward, sum.backward + one.backward};
        ++pairs;
      }
    saved.push_back({(1.0 / pairs) * sum.forward, (1.0 / pairs) * sum.backward});
    any = any || saved.back().both() > Seconds(0.0);
  }
  if (!any) saved.clear();
  return saved;
}

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
  for (const PairSaving& saved : pair_savings(table, chunks)) times.saved.push_back(SimTime::from(saved.both()));
  return times;
}

}  // namespace tbdsim
