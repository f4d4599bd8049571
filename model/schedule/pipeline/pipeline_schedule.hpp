#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/schedule/pipeline/schedule_kind.hpp"

namespace tbdsim::pipeline {

/// A pass of one micro-batch through one chunk.
enum class BlockKind : std::uint8_t {
  forward,
  backward,  ///< gradients of the inputs; of the weights, too, where the chunk has no weights block for this micro-batch
  weights,   ///< gradients of the weights, apart from `backward`
};

/// One block of a table: what a rank runs without a pause.
struct Block {
  BlockKind kind = BlockKind::forward;
  std::uint8_t chunk = 0;
  bool joined = false;           ///< runs together with the next block of its rank, as DualPipe's overlapped F and B
  bool whole = false;            ///< of a backward: computes the gradients of the weights, too (mark_whole_backwards)
  std::int32_t micro_batch = 0;  ///< from 0
};

/// "F3.1": the forward pass of micro-batch 3 through chunk 1.
[[nodiscard]] std::string text(const Block& block);

/// Where a stage lies.
struct Place {
  std::int32_t rank = 0;
  std::int32_t chunk = 0;
};

/// A pipeline schedule: for every rank its blocks, in the order in which it runs them.
///
/// A forward block needs the one of the stage before, a backward block that of the stage behind, a weights block its own
/// backward. Under Placement::two_way the first half of the micro-batches goes through chunk 0 of the ranks in their order,
/// the second half through chunk 1 in the opposite order.
/// Generators (generate.hpp) and files (schedule_file.hpp) give tables without problems (check_schedule.hpp).
struct PipelineSchedule {
  PipelineShape shape;
  Placement placement = Placement::round_robin;
  std::vector<Block> blocks;          ///< rank after rank
  std::vector<std::int32_t> offsets;  ///< where each rank begins in `blocks`, and their end

  [[nodiscard]] std::span<const Block> of_rank(std::int32_t rank) const {
    const auto r = static_cast<std::size_t>(rank);
    const auto begin = static_cast<std::size_t>(offsets[r]), end = static_cast<std::size_t>(offsets[r + 1]);
    return std::span(blocks).subspan(begin, end - begin);
  }
  [[nodiscard]] std::int32_t stages() const { return stage_count(placement, shape); }
  [[nodiscard]] std::int32_t stage_of(Place place) const;
  /// The chunk through which a micro-batch passes a rank: any under one direction, its direction's under two_way.
  [[nodiscard]] bool passes(std::int32_t micro_batch, std::int32_t chunk) const {
    return placement != Placement::two_way || (micro_batch >= shape.micro_batches / 2) == (chunk == 1);
  }
  /// Where a stage is held: for micro-batches of the first direction (0) or of the second (1).
  [[nodiscard]] Place place_of(std::int32_t stage, std::int32_t direction = 0) const;
};

/// Sets `whole` of every backward block whose micro-batch and chunk have no weights block on its rank. Expects numbers in range.
void mark_whole_backwards(PipelineSchedule& schedule);

/// The neighbours of one place, found once for all micro-batches.
struct PlaceRoute {
  std::int32_t stage = 0;
  std::int32_t before = -1, behind = -1;  ///< rank with the stage before and behind; -1: there is none
  std::int32_t place_before = -1;         ///< rank x chunks + chunk of the stage before; -1: there is none
};

/// Of every place, by rank x chunks + chunk.
[[nodiscard]] std::vector<PlaceRoute> place_routes(const PipelineSchedule& schedule);

}  // namespace tbdsim::pipeline
