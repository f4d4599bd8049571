// DualPipe: the eight steps of deepseek-ai/DualPipe dualpipe.py, which arXiv:2412.19437, figure 5, draws.
#include <algorithm>
#include <cstddef>
#include <deque>

#include "model/schedule/pipeline/rank_writer.hpp"

namespace tbdsim::pipeline {
namespace {

constexpr BlockKind kForward = BlockKind::forward, kBackward = BlockKind::backward, kWeights = BlockKind::weights;

/// The blocks of one rank. `near` is the direction that enters at its half of the ranks, `far` the other.
class DualPipeRank {
 public:
  DualPipeRank(std::vector<Block>& blocks, PipelineShape shape, std::int32_t rank)
      : blocks_(blocks), write_(blocks), half_(shape.micro_batches / 2), near_(rank < shape.ranks / 2 ? 0 : 1), far_(1 - near_) {}

  void write(std::int32_t ranks, std::int32_t depth) {
    const std::int32_t inner = ranks / 2 - depth - 1;
    for (std::int32_t i = 0; i < 2 * inner; ++i) pass(kForward, near_);
    for (std::int32_t i = 0; i <= depth; ++i) {
      pass(kForward, near_);
      pass(kForward, far_);
    }
    for (std::int32_t i = 0; i < inner; ++i) {
      split_backward(far_);
      weights();
      pass(kForward, far_);
    }
    const std::int32_t main = half_ - ranks + depth + 1;
    for (std::int32_t i = 0; i < main; ++i) {
      joined(near_, far_, /*apart=*/i == 0 && inner == 0);
      joined(far_, near_, false);
    }
    for (std::int32_t i = 0; i < inner; ++i) {
      pass(kBackward, far_);
      joined(far_, near_, false);
    }
    drain(inner, depth);
  }

 private:
  /// The second half of the last backward blocks leaves its weight gradients for the end.
  void drain(std::int32_t inner, std::int32_t depth) {
    const std::int32_t pairs = depth + 1;
    bool split = false;
    for (std::int32_t i = 0; i < pairs; ++i) {
      split |= i == pairs / 2 && depth % 2 == 1;
      split ? split_backward(far_) : pass(kBackward, far_);
      split |= i == pairs / 2 && depth % 2 == 0;
      split ? split_backward(near_) : pass(kBackward, near_);
    }
    for (std::int32_t i = 0; i < inner; ++i) {
      weights();
      split_backward(near_);
    }
    while (!waiting_.empty()) weights();
  }

  /// The next micro-batch of a direction; those of the second one count from the half.
  void pass(BlockKind kind, std::int32_t chunk) { write_.add(kind, write_.count(kind, chunk)++ + chunk * half_, chunk); }
  void joined(std::int32_t forward, std::int32_t backward, bool apart) {
    pass(kForward, forward);
    blocks_.back().joined = !apart;
    pass(kBackward, backward);
  }
  void split_backward(std::int32_t chunk) {
    pass(kBackward, chunk);
    waiting_.push_back(blocks_.back());
  }
  void weights() {
    write_.add(kWeights, waiting_.front().micro_batch, waiting_.front().chunk);
    waiting_.pop_front();
  }

  std::vector<Block>& blocks_;
  RankWriter write_;
  std::int32_t half_, near_, far_;
  std::deque<Block> waiting_;  // backward blocks whose weight gradients are to come
};

}  // namespace

void write_dualpipe(std::vector<Block>& blocks, PipelineShape shape, std::int32_t rank) {
  DualPipeRank(blocks, shape, rank).write(shape.ranks, std::min(rank, shape.ranks - 1 - rank));
}

}  // namespace tbdsim::pipeline
