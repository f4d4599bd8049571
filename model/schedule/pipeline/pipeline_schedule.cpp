#include "model/schedule/pipeline/pipeline_schedule.hpp"

#include <fmt/format.h>

namespace tbdsim::pipeline {

std::string text(const Block& block) {
  constexpr std::string_view kLetters = "FBW";
  return fmt::format("{}{}.{}", kLetters[static_cast<std::size_t>(block.kind)], block.micro_batch, int{block.chunk});
}

std::int32_t PipelineSchedule::stage_of(Place place) const {
  const std::int32_t back = shape.ranks - 1 - place.rank;
  if (placement == Placement::two_way) return place.chunk == 0 ? place.rank : back;
  const bool turned = placement == Placement::vee && place.chunk % 2 == 1;
  return place.chunk * shape.ranks + (turned ? back : place.rank);
}

Place PipelineSchedule::place_of(std::int32_t stage, std::int32_t direction) const {
  const std::int32_t back = shape.ranks - 1 - stage % shape.ranks;
  if (placement == Placement::two_way) return direction == 0 ? Place{stage, 0} : Place{back, 1};
  const std::int32_t chunk = stage / shape.ranks;
  const bool turned = placement == Placement::vee && chunk % 2 == 1;
  return {turned ? back : stage % shape.ranks, chunk};
}

void mark_whole_backwards(PipelineSchedule& schedule) {
  const auto columns = static_cast<std::size_t>(schedule.shape.chunks);
  std::vector<char> split;
  for (std::size_t rank = 0; rank + 1 < schedule.offsets.size(); ++rank) {
    const auto begin = static_cast<std::size_t>(schedule.offsets[rank]),
               end = static_cast<std::size_t>(schedule.offsets[rank + 1]);
    const auto cell = [&](const Block& block) { return static_cast<std::size_t>(block.micro_batch) * columns + block.chunk; };
    split.assign(columns * static_cast<std::size_t>(schedule.shape.micro_batches), 0);
    for (std::size_t i = begin; i < end; ++i)
      if (schedule.blocks[i].kind == BlockKind::weights) split[cell(schedule.blocks[i])] = 1;
    for (std::size_t i = begin; i < end; ++i)
      schedule.blocks[i].whole = schedule.blocks[i].kind == BlockKind::backward && split[cell(schedule.blocks[i])] == 0;
  }
}

std::vector<PlaceRoute> place_routes(const PipelineSchedule& schedule) {
  const std::int32_t last = schedule.stages() - 1;
  std::vector<PlaceRoute> routes;
  for (std::int32_t rank = 0; rank < schedule.shape.ranks; ++rank) {
    for (std::int32_t chunk = 0; chunk < schedule.shape.chunks; ++chunk) {
      PlaceRoute route;
      route.stage = schedule.stage_of({rank, chunk});
      const std::int32_t direction = schedule.placement == Placement::two_way ? chunk : 0;
      if (route.stage > 0) {
        const Place before = schedule.place_of(route.stage - 1, direction);
        route.before = before.rank;
        route.place_before = before.rank * schedule.shape.chunks + before.chunk;
      }
      if (route.stage < last) route.behind = schedule.place_of(route.stage + 1, direction).rank;
      routes.push_back(route);
    }
  }
  return routes;
}

}  // namespace tbdsim::pipeline
