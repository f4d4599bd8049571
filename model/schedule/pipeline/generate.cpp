#include "model/schedule/pipeline/generate.hpp"

#include <algorithm>
#include <utility>

#include "model/schedule/pipeline/rank_writer.hpp"

namespace tbdsim::pipeline {
namespace {

constexpr BlockKind kForward = BlockKind::forward, kBackward = BlockKind::backward;

void write_gpipe(std::vector<Block>& blocks, PipelineShape shape, std::int32_t /*rank*/) {
  RankWriter write(blocks);
  for (const BlockKind kind : {kForward, kBackward})
    for (std::int32_t i = 0; i < shape.micro_batches; ++i) write.add(kind, i);
}

/// `total` forward and as many backward blocks, one of each in turn after a warm-up; `at(i, kind)` is the i-th of a kind.
template <class At>
void write_in_turn(std::vector<Block>& blocks, std::int32_t total, std::int32_t warm_up, At at) {
  RankWriter write(blocks);
  const auto add = [&](BlockKind kind, std::int32_t i) {
    const auto [micro_batch, chunk] = at(i, kind);
    write.add(kind, micro_batch, chunk);
  };
  warm_up = std::min(warm_up, total);
  for (std::int32_t i = 0; i < warm_up; ++i) add(kForward, i);
  for (std::int32_t i = 0; i < total; ++i) {
    if (warm_up + i < total) add(kForward, warm_up + i);
    add(kBackward, i);
  }
}

void write_1f1b(std::vector<Block>& blocks, PipelineShape shape, std::int32_t rank) {
  write_in_turn(blocks, shape.micro_batches, shape.ranks - 1 - rank,
                [](std::int32_t i, BlockKind) { return std::pair(i, std::int32_t{0}); });
}

void write_interleaved(std::vector<Block>& blocks, PipelineShape shape, std::int32_t rank) {
  const std::int32_t p = shape.ranks, v = shape.chunks;
  write_in_turn(blocks, shape.micro_batches * v, 2 * (p - 1 - rank) + (v - 1) * p, [=](std::int32_t i, BlockKind kind) {
    const std::int32_t round = i / (p * v), chunk = i % (p * v) / p;
    return std::pair(round * p + i % p, kind == kForward ? chunk : v - 1 - chunk);
  });
}

using Write = void (*)(std::vector<Block>&, PipelineShape, std::int32_t);

Write writer(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::gpipe:
      return write_gpipe;
    case ScheduleKind::one_f_one_b:
      return write_1f1b;
    case ScheduleKind::interleaved:
      return write_interleaved;
    case ScheduleKind::zb_h1:
      return write_zb_h1;
    case ScheduleKind::zb_v:
      return write_zb_v;
    case ScheduleKind::dualpipe:
      break;
  }
  return write_dualpipe;
}

}  // namespace

Result<PipelineSchedule> generate(ScheduleKind kind, PipelineShape shape) {
  if (auto why = unmet_demand(kind, shape)) return fail(std::move(*why));
  PipelineSchedule schedule{shape, info(kind).placement, {}, {0}};
  schedule.blocks.reserve(static_cast<std::size_t>(shape.ranks) * static_cast<std::size_t>(shape.micro_batches) *
                          static_cast<std::size_t>(shape.chunks) * 3);
  const Write write = writer(kind);
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    write(schedule.blocks, shape, rank);
    schedule.offsets.push_back(static_cast<std::int32_t>(schedule.blocks.size()));
  }
  mark_whole_backwards(schedule);
  return schedule;
}

}  // namespace tbdsim::pipeline
