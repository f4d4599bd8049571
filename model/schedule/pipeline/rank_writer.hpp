#pragma once
#include <array>
#include <vector>

#include "model/schedule/pipeline/pipeline_schedule.hpp"

namespace tbdsim::pipeline {

/// Writes the blocks of one rank. It counts how often each pass went through each of the first two chunks, for schedules whose
/// blocks of a kind and chunk run in the order of the micro-batches.
class RankWriter {
 public:
  explicit RankWriter(std::vector<Block>& blocks) : blocks_(blocks) {}

  void add(BlockKind kind, std::int32_t micro_batch, std::int32_t chunk = 0) {
    blocks_.push_back({kind, static_cast<std::uint8_t>(chunk), false, false, micro_batch});
  }
  /// The next micro-batch of this pass and chunk; nothing once `end` is reached.
  void next(BlockKind kind, std::int32_t chunk, std::int32_t end) {
    const std::int32_t micro_batch = count(kind, chunk)++;
    if (micro_batch < end) add(kind, micro_batch, chunk);
  }
  [[nodiscard]] std::int32_t& count(BlockKind kind, std::int32_t chunk) {
    return counts_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(chunk)];
  }

 private:
  std::vector<Block>& blocks_;
  std::array<std::array<std::int32_t, 2>, 3> counts_{};
};

/// The blocks of one rank, for shapes that meet the schedule's demands.
void write_zb_h1(std::vector<Block>& blocks, PipelineShape shape, std::int32_t rank);
void write_zb_v(std::vector<Block>& blocks, PipelineShape shape, std::int32_t rank);
void write_dualpipe(std::vector<Block>& blocks, PipelineShape shape, std::int32_t rank);

}  // namespace tbdsim::pipeline
