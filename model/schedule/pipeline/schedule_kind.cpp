#include "model/schedule/pipeline/schedule_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/support/edit_distance.hpp"
#include "model/support/enum_table.hpp"

namespace tbdsim::pipeline {
namespace {

constexpr std::array<ScheduleInfo, 6> kRows{{
    {ScheduleKind::gpipe, "gpipe", Placement::round_robin, 1, "all forward, then all backward", "arXiv:1811.06965"},
    {ScheduleKind::one_f_one_b, "1f1b", Placement::round_robin, 1, "one forward, one backward after a warm-up",
     "arXiv:2104.04473"},
    {ScheduleKind::interleaved, "interleaved", Placement::round_robin, 0, "1f1b over several chunks a rank", "arXiv:2104.04473"},
    {ScheduleKind::zb_h1, "zb-h1", Placement::round_robin, 1, "1f1b whose weight gradients fill the bubble", "arXiv:2401.10241"},
    {ScheduleKind::zb_v, "zb-v", Placement::vee, 2, "zero bubble with two chunks a rank, placed as a V", "arXiv:2401.10241"},
    {ScheduleKind::dualpipe, "dualpipe", Placement::two_way, 2, "micro-batches from both ends, weights twice",
     "arXiv:2412.19437"},
}};
static_assert(rows_in_order(kRows));

constexpr std::array<PlacementInfo, 3> kPlacements{
    {{Placement::round_robin, "round-robin"}, {Placement::vee, "vee"}, {Placement::two_way, "two-way"}}};
static_assert(rows_in_order(kPlacements));

std::string counted(std::int32_t count, std::string_view noun) {
  const std::string_view ending = count == 1 ? "" : noun.ends_with("ch") ? "es" : "s";
  return fmt::format("{} {}{}", count, noun, ending);
}

/// What no table of any kind can have.
std::optional<std::string> unmet_size(PipelineShape shape) {
  if (shape.ranks < 1) return fmt::format("{}; expected at least 1", counted(shape.ranks, "rank"));
  if (shape.micro_batches < 1) return fmt::format("{}; expected at least 1", counted(shape.micro_batches, "micro-batch"));
  if (shape.chunks < 1 || shape.chunks > kMostChunks)
    return fmt::format("{} a rank; expected 1 to {}", counted(shape.chunks, "chunk"), kMostChunks);
  const std::int64_t columns = std::int64_t{3} * shape.micro_batches * shape.chunks;
  if (columns > kMostBlocks / shape.ranks)
    return fmt::format("{} and {} of {} make more than {} blocks", counted(shape.ranks, "rank"),
                       counted(shape.micro_batches, "micro-batch"), counted(shape.chunks, "chunk"), kMostBlocks);
  return std::nullopt;
}

std::optional<std::string> unmet_interleaved(PipelineShape shape) {
  const std::int32_t p = shape.ranks, m = shape.micro_batches;
  if (m % p == 0) return std::nullopt;
  const std::int32_t below = m / p * p;
  const std::string near = below > 0 ? fmt::format("{} or {}", below, below + p) : fmt::format("{}", p);
  return fmt::format("{} on {}; expected a multiple of {}, such as {}", counted(m, "micro-batch"), counted(p, "rank"), p, near);
}

std::optional<std::string> unmet_dualpipe(PipelineShape shape) {
  const std::int32_t p = shape.ranks, m = shape.micro_batches;
  if (p % 2 != 0) {
    const std::string near = p > 1 ? fmt::format("{} or {}", p - 1, p + 1) : "2";
    return fmt::format("{}; expected an even number, such as {}", counted(p, "rank"), near);
  }
  if (m >= 2 * p && m % 2 == 0) return std::nullopt;
  return fmt::format("{} on {}; expected an even number of at least {}, such as {}", counted(m, "micro-batch"),
                     counted(p, "rank"), 2 * p, m < 2 * p ? 2 * p : m + 1);
}

}  // namespace

std::span<const ScheduleInfo> schedules() { return kRows; }

const ScheduleInfo& info(ScheduleKind kind) { return kRows[static_cast<std::size_t>(kind)]; }

std::optional<ScheduleKind> parse_schedule(std::string_view word) {
  const auto* const row =
      std::find_if(kRows.begin(), kRows.end(), [&](const ScheduleInfo& each) { return fold_name(each.name) == fold_name(word); });
  return row == kRows.end() ? std::nullopt : std::optional(row->kind);
}

std::span<const PlacementInfo> placements() { return kPlacements; }

std::optional<std::string> unmet_demand(ScheduleKind kind, PipelineShape shape) {
  const ScheduleInfo& row = info(kind);
  std::optional<std::string> why = unmet_size(shape);
  if (!why && row.chunks > 0 && shape.chunks != row.chunks)
    why = fmt::format("{} a rank; expected {}", counted(shape.chunks, "chunk"), row.chunks);
  if (!why && kind == ScheduleKind::interleaved) why = unmet_interleaved(shape);
  if (!why && kind == ScheduleKind::dualpipe) why = unmet_dualpipe(shape);
  if (why) why = fmt::format("{}: {}", row.name, *why);
  return why;
}

}  // namespace tbdsim::pipeline
