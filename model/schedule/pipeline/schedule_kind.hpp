#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tbdsim::pipeline {

/// Orders in which the ranks of a pipeline run the passes of micro-batches. A schedule of one's own is a file
/// (schedule_file.hpp).
enum class ScheduleKind {
  gpipe,        ///< all forward, then all backward
  one_f_one_b,  ///< one forward, one backward after a short warm-up
  interleaved,  ///< 1f1b over several chunks a rank, Megatron's order
  zb_h1,        ///< 1f1b whose weight gradients fill the bubble
  zb_v,         ///< zero bubble with two chunks a rank, placed as a V
  dualpipe,     ///< micro-batches enter from both ends; every stage is held twice
};

/// Which rank holds which stage, a stage being the run of layers that one chunk holds. With p ranks:
enum class Placement {
  round_robin,  ///< chunk c of rank i is stage c p + i
  vee,          ///< even chunks as round_robin, odd ones from the last rank back: chunk 1 of rank i is stage 2p-1-i
  two_way,      ///< chunk 0 of rank i is stage i, chunk 1 is stage p-1-i: the second half of the micro-batches goes that way
};

/// The size of a schedule.
struct PipelineShape {
  std::int32_t ranks = 1;
  std::int32_t micro_batches = 1;  ///< of one update
  std::int32_t chunks = 1;         ///< held by one rank; 2 under two_way, one of each direction
  bool operator==(const PipelineShape&) const = default;
};

/// One row of the table of schedules.
struct ScheduleInfo {
  ScheduleKind kind;
  std::string_view name;  ///< in options, JSON and files: "zb-h1"
  Placement placement;
  std::int32_t chunks;  ///< how many a rank must hold; 0: any number
  std::string_view what;
  std::string_view source;
};

/// Every schedule, in the order of their enumerators.
[[nodiscard]] std::span<const ScheduleInfo> schedules();
[[nodiscard]] const ScheduleInfo& info(ScheduleKind kind);
[[nodiscard]] inline std::string_view name(ScheduleKind kind) { return info(kind).name; }
/// The schedule of a user's word, compared without case and punctuation; nothing: there is none.
[[nodiscard]] std::optional<ScheduleKind> parse_schedule(std::string_view word);

struct PlacementInfo {
  Placement kind;
  std::string_view name;  ///< in schedule files: "round-robin"
};
[[nodiscard]] std::span<const PlacementInfo> placements();
[[nodiscard]] inline std::string_view name(Placement placement) { return placements()[static_cast<std::size_t>(placement)].name; }

/// Different stages of a pipeline: under two_way every stage is held twice.
[[nodiscard]] constexpr std::int32_t stage_count(Placement placement, PipelineShape shape) {
  return placement == Placement::two_way ? shape.ranks : shape.ranks * shape.chunks;
}

/// A table is at most so long; what asks for more was given by mistake. One block takes 8 bytes.
inline constexpr std::int64_t kMostBlocks = 50'000'000;
/// A chunk's number is kept in one byte.
inline constexpr std::int32_t kMostChunks = 255;

/// Why `kind` cannot have this shape, with what would work; nothing: it can. Example: "interleaved: 10 micro-batches on 4
/// ranks; expected a multiple of 4, such as 8 or 12".
[[nodiscard]] std::optional<std::string> unmet_demand(ScheduleKind kind, PipelineShape shape);

}  // namespace tbdsim::pipeline
