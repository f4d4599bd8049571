#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/schedule/pipeline/pipeline_schedule.hpp"

namespace tbdsim::pipeline {

/// Walks through a table so that every block comes after all that it needs: along each rank as far as it goes, then along the
/// ranks that wait for what was done. Time in proportion to the blocks; which rank goes first has no effect on what a visitor
/// computes from a block's predecessors.
class BlockOrder {
 public:
  explicit BlockOrder(const PipelineSchedule& schedule)
      : schedule_(schedule),
        routes_(place_routes(schedule)),
        at_(schedule.offsets.begin(), schedule.offsets.end() - 1),
        queued_(at_.size(), 1),
        done_(2 * static_cast<std::size_t>(schedule.stages()) * static_cast<std::size_t>(schedule.shape.micro_batches), 0) {
    for (std::int32_t rank = schedule.shape.ranks - 1; rank >= 0; --rank) queue_.push_back(rank);
  }

  /// Calls visit(rank, index in `blocks`, blocks that run together: 1 or 2) for every block, or for all up to where the ranks
  /// wait for each other. Returns whether every block was visited. Expects numbers in range.
  template <class Visit>
  bool walk(Visit visit) {
    std::size_t left = schedule_.blocks.size();
    while (!queue_.empty()) {
      const std::int32_t rank = queue_.back();
      queue_.pop_back();
      const auto r = static_cast<std::size_t>(rank);
      queued_[r] = 0;
      const std::int32_t end = schedule_.offsets[r + 1];
      while (at_[r] < end) {
        const auto i = static_cast<std::size_t>(at_[r]);
        const std::int32_t together = schedule_.blocks[i].joined ? 2 : 1;
        if (!ready(rank, i) || (together == 2 && !ready(rank, i + 1))) break;
        visit(rank, i, together);
        finish(rank, i);
        if (together == 2) finish(rank, i + 1);
        at_[r] += together;
        left -= static_cast<std::size_t>(together);
      }
    }
    return left == 0;
  }

  /// Where each rank stands, as an index in `blocks`.
  [[nodiscard]] const std::vector<std::int32_t>& at() const { return at_; }
  [[nodiscard]] const PlaceRoute& route(std::int32_t rank, const Block& block) const {
    return routes_[static_cast<std::size_t>(rank) * static_cast<std::size_t>(schedule_.shape.chunks) + block.chunk];
  }
  /// Number of a forward or backward pass of a micro-batch through a stage, from 0 to 2 x stages x micro-batches.
  [[nodiscard]] std::size_t pass(BlockKind kind, std::int32_t micro_batch, std::int32_t stage) const {
    const auto stages = static_cast<std::size_t>(schedule_.stages());
    return (2 * static_cast<std::size_t>(micro_batch) + (kind == BlockKind::backward ? 1 : 0)) * stages +
           static_cast<std::size_t>(stage);
  }
  /// Whether the neighbour's block that this one needs, if any, was visited.
  [[nodiscard]] bool ready(std::int32_t rank, std::size_t i) const {
    const Block& block = schedule_.blocks[i];
    const PlaceRoute& here = route(rank, block);
    if (block.kind == BlockKind::forward)
      return here.before < 0 || done_[pass(block.kind, block.micro_batch, here.stage - 1)] != 0;
    return block.kind == BlockKind::weights || here.behind < 0 || done_[pass(block.kind, block.micro_batch, here.stage + 1)] != 0;
  }

 private:
  void finish(std::int32_t rank, std::size_t i) {
    const Block& block = schedule_.blocks[i];
    if (block.kind == BlockKind::weights) return;
    const PlaceRoute& here = route(rank, block);
    done_[pass(block.kind, block.micro_batch, here.stage)] = 1;
    const std::int32_t reader = block.kind == BlockKind::forward ? here.behind : here.before;
    if (reader < 0 || reader == rank || queued_[static_cast<std::size_t>(reader)] != 0) return;
    queued_[static_cast<std::size_t>(reader)] = 1;
    queue_.push_back(reader);
  }

  const PipelineSchedule& schedule_;
  std::vector<PlaceRoute> routes_;
  std::vector<std::int32_t> at_;
  std::vector<std::int32_t> queue_;
  std::vector<char> queued_;
  std::vector<char> done_;  // of every pass
};

}  // namespace tbdsim::pipeline
