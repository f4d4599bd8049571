#pragma once
#include <cstddef>
#include <vector>

#include "model/plan/layer_table.hpp"
#include "model/schedule/pipeline/pipeline_schedule.hpp"

namespace tbdsim::plan {

/// Which end of the network a rank holds: its first layer, its last one.
struct Ends {
  bool first = false, last = false;
  auto operator<=>(const Ends&) const = default;
};

/// Ranks of a pipeline that hold the same layers, and so take the same time and memory for a micro-batch.
struct RankKind {
  Ends ends;                 ///< of the network, that its layers hold
  Ends way;                  ///< of a micro-batch's way, that the rank is
  std::vector<int> classes;  ///< layers of each class
  int layers = 0;            ///< without a loss alone
  Elements elements;
  int arrays = 0;
  ArraySizes sizes;        ///< without experts'
  std::vector<int> ranks;  ///< ascending
};

/// Where the layers of a network lie in a pipeline.
struct StagePlaces {
  pipeline::PipelineSchedule places;  ///< its shape and placement, without blocks
  std::vector<std::size_t> first;     ///< layer of each stage, and the number of layers
  std::vector<RankKind> kinds;
  std::vector<std::size_t> kind_of;  ///< each rank
  int first_end = 0, last_end = 0;   ///< ranks that hold the first and the last layer
};

/// Expects no more stages than layers.
[[nodiscard]] StagePlaces stage_places(const Configuration& configuration, const RankShare& share);

}  // namespace tbdsim::plan
