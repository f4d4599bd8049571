// Schedules that run the gradients of the weights apart from those of the inputs: ZB-H1 and ZB-V.
#include <algorithm>

#include "model/schedule/pipeline/rank_writer.hpp"

namespace tbdsim::pipeline {
namespace {

constexpr BlockKind kForward = BlockKind::forward, kBackward = BlockKind::backward, kWeights = BlockKind::weights;

}  // namespace

void write_zb_h1(std::vector<Block>& blocks, PipelineShape shape, std::int32_t rank) {
  RankWriter write(blocks);
  const std::int32_t m = shape.micro_batches, warm_up = std::min(shape.ranks - 1 - rank, m), lag = std::min(rank, m);
  for (std::int32_t i = 0; i < warm_up; ++i) write.add(kForward, i);
  for (std::int32_t i = 0; i < m; ++i) {
    if (warm_up + i < m) write.add(kForward, warm_up + i);
    write.add(kBackward, i);
    if (i >= lag) write.add(kWeights, i - lag);
  }
  for (std::int32_t i = m - lag; i < m; ++i) write.add(kWeights, i);
}

void write_zb_v(std::vector<Block>& blocks, PipelineShape shape, std::int32_t rank) {
  RankWriter write(blocks);
  const std::int32_t p = shape.ranks, m = shape.micro_batches;
  // Few micro-batches run the order of 2p-1 of them, less the blocks of those that are not there.
  const std::int32_t full = std::max(2 * p - 1, m);
  const auto step = [&](BlockKind kind, std::int32_t chunk) { write.next(kind, chunk, m); };
  const auto both = [&](std::int32_t chunk) {
    step(kBackward, chunk);
    step(kWeights, chunk);
  };
  for (std::int32_t i = 0; i < 2 * (p - rank) - 1; ++i) step(kForward, 0);
  for (std::int32_t i = 0; i < rank; ++i) {
    step(kForward, 1);
    step(kForward, 0);
  }
  for (std::int32_t i = 0; i < p - rank; ++i) {
    step(kForward, 1);
    both(1);
  }
  while (write.count(kForward, 1) < write.count(kForward, 0) || write.count(kForward, 0) < full) {
    if (write.count(kForward, 0) < full) step(kForward, 0);
    both(0);
    step(kForward, 1);
    both(1);
  }
  for (std::int32_t i = 0; i < rank; ++i) {
    step(kBackward, 0);
    step(kBackward, 1);
  }
  for (std::int32_t i = 0; i < p - rank; ++i) both(0);
  for (const std::int32_t chunk : {1, 0})
    while (write.count(kWeights, chunk) < write.count(kBackward, chunk)) step(kWeights, chunk);
}

}  // namespace tbdsim::pipeline
