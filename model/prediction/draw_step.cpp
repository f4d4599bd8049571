#include "model/prediction/draw_step.hpp"

#include <algorithm>

#include "model/prediction/block_times.hpp"
#include "model/schedule/pipeline/generate.hpp"
#include "model/schedule/pipeline/in_flight.hpp"

namespace tbdsim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Time of a block, and what of it waits for collectives; a backward block without its weights has the waits of the whole pass.
struct BlockLength {
  Seconds time, exposed;
};
BlockLength length_of(const ChunkPass& chunk, const pipeline::Block& block) {
  switch (block.kind) {
    case pipeline::BlockKind::forward:
      return {chunk.forward.time, chunk.forward.exposed_sum()};
    case pipeline::BlockKind::weights:
      return {chunk.weights, Seconds(0.0)};
    case pipeline::BlockKind::backward:
      break;
  }
  const Seconds time = block.whole ? chunk.backward.time : chunk.backward.time - chunk.weights;
  return {time, std::min(time, chunk.backward.exposed_sum())};
}

/// Micro-batches that a drawing has room for.
int drawn_of(const pipeline::PipelineSchedule& table) {
  const int all = table.shape.micro_batches;
  const std::size_t each = std::max<std::size_t>(1, table.blocks.size() / at(all));
  const auto room = static_cast<int>(std::max<std::size_t>(2, kMostDrawnBlocks / each));
  return room >= all ? all : room - room % 2;
}

/// Memory of a rank while each of its blocks runs.
std::vector<Bytes> held_by(const pipeline::PipelineSchedule& table, int rank, const MemoryVerdict& memory) {
  const GpuMemory& gpu = memory.gpus[std::min(at(rank), memory.gpus.size() - 1)];
  const std::vector<pipeline::ChunkActivations> units(at(table.shape.chunks), {Bytes(1.0), Bytes(pipeline::kShareForWeights)});
  std::vector<Bytes> flying = pipeline::activations(table, rank, units);
  const Bytes most = flying.empty() ? Bytes(1.0) : *std::max_element(flying.begin(), flying.end());
  const Bytes maps = gpu.parts[MemoryPart::feature_maps];
  for (Bytes& held : flying) held = gpu.peak - maps + held / most * maps;
  return flying;
}

}  // namespace

Result<StepDrawing> draw_step(const Configuration& configuration, const DividedStep& step, const MemoryVerdict& memory) {
  // One rank runs the table of a pipeline of one stage.
  const auto table = configuration.layout.pipeline > 1
                         ? configured_schedule(configuration)
                         : pipeline::generate(pipeline::ScheduleKind::one_f_one_b, {1, configuration.accumulate, 1});
  if (!table) return tl::make_unexpected(table.error());
  const pipeline::PipelineRun run =
      pipeline::simulate(*table, block_times(configuration, *table, step.chunks, step.hop), pipeline::Spans::all);
  StepDrawing drawing;
  drawing.micro_batches = table->shape.micro_batches;
  drawing.drawn = drawn_of(*table);
  const int first = (drawing.drawn + 1) / 2, last = drawing.micro_batches - drawing.drawn / 2;
  const std::vector<PairSaving> saved = pair_savings(*table, step.chunks);
  for (int rank = 0; rank < table->shape.ranks; ++rank) {
    const std::vector<Bytes> held = held_by(*table, rank, memory);
    const RankStep& own = step.ranks[at(rank)];
    DrawnRank row;
    const std::span<const pipeline::Block> blocks = table->of_rank(rank);
    Seconds free(0.0);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const pipeline::Block& block = blocks[i];
      const pipeline::BlockSpan& span = run.spans[at(table->offsets[at(rank)]) + i];
      const Seconds start = span.start.seconds(), time = span.end.seconds() - start;
      const Seconds idle = std::max(Seconds(0.0), start - free);
      free = start + time;
      if (block.micro_batch >= first && block.micro_batch < last) continue;
      const int stage = table->stage_of({rank, block.chunk});
      const BlockLength length = length_of(step.chunks[at(stage)], block);
      const bool in_pair = !saved.empty() && (block.joined || (i > 0 && blocks[i - 1].joined));
      const PairSaving hidden = in_pair ? saved[at(rank)] : PairSaving{};
      const Seconds exposed = length.exposed - (block.kind == pipeline::BlockKind::forward ? hidden.forward : hidden.backward);
      row.blocks.push_back(
          {block.kind, stage, block.micro_batch, start, time, idle, std::clamp(exposed, Seconds(0.0), time), held[i]});
    }
    row.exchange_start = own.end;
    row.exchange = own.exposed;
    row.update = own.update;
    row.update_start = std::max(own.end + own.exposed, step.times.step - step.times.phases.weight_update);
    drawing.ranks.push_back(std::move(row));
  }
  return drawing;
}

}  // namespace tbdsim
