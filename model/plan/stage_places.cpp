#include "model/plan/stage_places.hpp"

#include <algorithm>

#include "model/configuration/choose_stages.hpp"
#include "model/schedule/pipeline/schedule_kind.hpp"

namespace tbdsim::plan {

StagePlaces stage_places(const Configuration& configuration, const RankShare& share) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const int ranks = configuration.layout.pipeline, stages = configuration.pipeline_stages();
  StagePlaces all;
  all.first = share.first_layers(stages, configuration.layout.stage_layers, ranks_of_stages(configuration));
  all.places.shape = configuration.pipeline_shape();
  all.places.placement = pipeline::info(configuration.schedule).placement;
  if (ranks > 1) {
    all.first_end = all.places.place_of(0).rank;
    all.last_end = all.places.place_of(stages - 1).rank;
  }
  for (int r = 0; r < ranks; ++r) {
    RankKind kind;
    kind.classes.assign(share.layers.classes(), 0);
    for (int c = 0; c < (ranks == 1 ? 1 : configuration.layout.virtual_stages); ++c) {
      const int stage = ranks == 1 ? 0 : all.places.stage_of({r, c});
      const std::size_t begin = all.first[at(stage)], end = all.first[at(stage) + 1];
      for (std::size_t layer = begin; layer < end; ++layer) ++kind.classes[at(share.layers.class_of[layer])];
      kind.ends.first = kind.ends.first || stage == 0;
      kind.ends.last = kind.ends.last || stage == stages - 1;
      kind.layers += static_cast<int>(end - begin) - (share.head && stage == stages - 1 ? 1 : 0);
      kind.elements += share.elements(begin, end);
      kind.arrays += share.arrays(begin, end);
    }
    for (std::size_t i = 0; i < kind.classes.size(); ++i)
      if (kind.classes[i] > 0) kind.sizes.add(share.sizes[i], kind.classes[i]);
    kind.way = {r == all.first_end, r == all.last_end};
    const auto known = std::find_if(all.kinds.begin(), all.kinds.end(), [&](const RankKind& other) {
      return other.ends == kind.ends && other.way == kind.way && other.classes == kind.classes;
    });
    all.kind_of.push_back(static_cast<std::size_t>(known - all.kinds.begin()));
    if (known == all.kinds.end()) all.kinds.push_back(std::move(kind));
    all.kinds[all.kind_of.back()].ranks.push_back(r);
  }
  return all;
}

}  // namespace tbdsim::plan
