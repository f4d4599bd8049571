#include "model/schedule/pipeline/check_schedule.hpp"

#include <fmt/format.h>

#include <array>

#include "model/schedule/pipeline/block_order.hpp"

namespace tbdsim::pipeline {
namespace {

using Problems = std::vector<ScheduleProblem>;

std::string block_text(std::size_t position, const Block& block) {
  return fmt::format("block {}, {}", position + 1, text(block));
}

/// Problems of one rank's list.
class RankCheck {
 public:
  RankCheck(const PipelineSchedule& schedule, std::int32_t rank, Problems& found)
      : schedule_(schedule), rank_(rank), blocks_(schedule.of_rank(rank)), found_(found) {}

  void numbers() {
    const PipelineShape& shape = schedule_.shape;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const Block& block = blocks_[i];
      if (block.chunk >= shape.chunks)
        tell(i, fmt::format("chunk {} of {}; they count from 0", int{block.chunk}, shape.chunks));
      else if (block.micro_batch < 0 || block.micro_batch >= shape.micro_batches)
        tell(i, fmt::format("micro-batch {} of {}; they count from 0", block.micro_batch, shape.micro_batches));
      else if (!schedule_.passes(block.micro_batch, block.chunk))
        tell(i, fmt::format("micro-batch {} goes through chunk {}; under two-way the first half takes chunk 0", block.micro_batch,
                            1 - block.chunk));
    }
  }

  void contents() {
    if (far_too_few()) return;
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    const auto chunks = static_cast<std::size_t>(schedule_.shape.chunks);
    const auto cell = [&](BlockKind kind, std::size_t micro_batch, std::size_t chunk) {
      return (static_cast<std::size_t>(kind) * static_cast<std::size_t>(schedule_.shape.micro_batches) + micro_batch) * chunks +
             chunk;
    };
    std::vector<std::size_t> first(3 * static_cast<std::size_t>(schedule_.shape.micro_batches) * chunks, kNone);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const Block& block = blocks_[i];
      const auto micro_batch = static_cast<std::size_t>(block.micro_batch);
      std::size_t& place = first[cell(block.kind, micro_batch, block.chunk)];
      if (place != kNone)
        tell(i, fmt::format("stands here a second time, first as block {}", place + 1));
      else
        place = i;
      if (block.kind != BlockKind::forward) {
        const BlockKind needed = block.kind == BlockKind::weights ? BlockKind::backward : BlockKind::forward;
        if (first[cell(needed, micro_batch, block.chunk)] == kNone)
          tell(i, fmt::format("stands before its {}", text({needed, block.chunk, false, false, block.micro_batch})));
      }
    }
    for (const BlockKind kind : {BlockKind::forward, BlockKind::backward})
      for (std::int32_t i = 0; i < schedule_.shape.micro_batches; ++i)
        for (std::int32_t c = 0; c < schedule_.shape.chunks; ++c)
          if (schedule_.passes(i, c) && first[cell(kind, static_cast<std::size_t>(i), static_cast<std::size_t>(c))] == kNone)
            found_.push_back({rank_, fmt::format("{} is missing", text({kind, static_cast<std::uint8_t>(c), false, false, i}))});
  }

  void pairs() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (!blocks_[i].joined) continue;
      const bool fits = i + 1 < blocks_.size() && blocks_[i].kind == BlockKind::forward &&
                        blocks_[i + 1].kind == BlockKind::backward && !blocks_[i + 1].joined &&
                        blocks_[i].micro_batch != blocks_[i + 1].micro_batch;
      if (!fits) tell(i, "is joined with the next block; expected an F joined with a B of another micro-batch");
    }
  }

 private:
  /// A list with next to nothing in it is one problem, not one for each block that is missing.
  bool far_too_few() {
    const auto directions = schedule_.placement == Placement::two_way ? std::size_t{2} : std::size_t{1};
    const std::size_t needed = 2 * static_cast<std::size_t>(schedule_.shape.micro_batches) *
                               static_cast<std::size_t>(schedule_.shape.chunks) / directions;
    if (blocks_.size() + kMostProblems >= needed) return false;
    found_.push_back({rank_, fmt::format("{} block{}; expected at least {}, an F and a B of every micro-batch and chunk",
                                         blocks_.size(), blocks_.size() == 1 ? "" : "s", needed)});
    return true;
  }
  void tell(std::size_t position, const std::string& what) {
    found_.push_back({rank_, fmt::format("{}: {}", block_text(position, blocks_[position]), what)});
  }

  const PipelineSchedule& schedule_;
  std::int32_t rank_;
  std::span<const Block> blocks_;
  Problems& found_;
};

/// The circle of ranks that wait for each other, told at the one with the least number.
void tell_circle(const PipelineSchedule& schedule, const BlockOrder& order, Problems& found) {
  const auto ranks = static_cast<std::size_t>(schedule.shape.ranks);
  std::vector<std::size_t> waits_on(ranks, ranks);
  std::vector<std::string> why(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    auto i = static_cast<std::size_t>(order.at()[rank]);
    if (order.at()[rank] == schedule.offsets[rank + 1]) continue;
    if (order.ready(static_cast<std::int32_t>(rank), i)) ++i;  // the second of a joined pair waits
    const Block& block = schedule.blocks[i];
    const PlaceRoute& route = order.route(static_cast<std::int32_t>(rank), block);
    const bool forward = block.kind == BlockKind::forward;
    waits_on[rank] = static_cast<std::size_t>(forward ? route.before : route.behind);
    const std::int32_t direction = schedule.placement == Placement::two_way ? block.chunk : 0;
    Block needed = block;
    needed.chunk = static_cast<std::uint8_t>(schedule.place_of(route.stage + (forward ? -1 : 1), direction).chunk);
    why[rank] =
        fmt::format("{} on rank {} waits for {} on rank {}",
                    block_text(i - static_cast<std::size_t>(schedule.offsets[rank]), block), rank, text(needed), waits_on[rank]);
  }
  std::size_t rank = 0;
  while (waits_on[rank] == ranks) ++rank;
  for (std::size_t step = 0; step < ranks; ++step) rank = waits_on[rank];  // now inside the circle
  std::size_t first = rank;
  for (std::size_t other = waits_on[rank]; other != rank; other = waits_on[other]) first = std::min(first, other);
  std::string text = why[first];
  for (std::size_t other = waits_on[first]; other != first; other = waits_on[other]) text += ", " + why[other];
  found.push_back({static_cast<std::int32_t>(first), "ranks wait for each other: " + text});
}

/// The first ones, with how many were left out.
Problems shortened(Problems found) {
  if (found.size() <= kMostProblems) return found;
  const std::size_t more = found.size() - kMostProblems;
  found.resize(kMostProblems);
  found.back().message += fmt::format("; and {} more problem{}", more, more == 1 ? "" : "s");
  return found;
}

}  // namespace

std::vector<ScheduleProblem> problems(const PipelineSchedule& schedule) {
  Problems found;
  for (std::int32_t rank = 0; rank < schedule.shape.ranks; ++rank) RankCheck(schedule, rank, found).numbers();
  if (!found.empty()) return shortened(std::move(found));
  for (std::int32_t rank = 0; rank < schedule.shape.ranks; ++rank) {
    RankCheck check(schedule, rank, found);
    check.contents();
    check.pairs();
  }
  if (!found.empty()) return shortened(std::move(found));
  BlockOrder order(schedule);
  if (!order.walk([](std::int32_t, std::size_t, std::int32_t) {})) tell_circle(schedule, order, found);
  return found;
}

std::optional<std::string> mismatch(const PipelineSchedule& schedule, PipelineShape shape) {
  struct Row {
    std::int32_t has, asked;
    const char* noun;
  };
  for (const Row& row : std::array<Row, 3>{{{schedule.shape.ranks, shape.ranks, "ranks"},
                                            {schedule.shape.micro_batches, shape.micro_batches, "micro-batches"},
                                            {schedule.shape.chunks, shape.chunks, "chunks a rank"}}})
    if (row.has != row.asked) return fmt::format("the schedule has {} {}, the job {}", row.has, row.noun, row.asked);
  return std::nullopt;
}

}  // namespace tbdsim::pipeline
