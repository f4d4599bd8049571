#include "model/plan/fast_memory.hpp"

#include <algorithm>

#include "model/schedule/pipeline/closed_form.hpp"
#include "model/schedule/pipeline/in_flight.hpp"

namespace tbdsim::plan {
namespace {

using pipeline::ScheduleKind;

constexpr int kFewLayers = 2, kMoreLayers = 4;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Bytes of arrays, which grow with their elements.
Bytes of_arrays(const RankMemory& rank) {
  return rank.parts[MemoryPart::weights] + rank.parts[MemoryPart::gradients] + rank.parts[MemoryPart::optimizer_state] +
         rank.parts[MemoryPart::exchange];
}

/// Between values at 0 and 1, and beyond.
Bytes along(Bytes low, Bytes high, double place) { return low + place * (high - low); }

}  // namespace

double in_flight(const Configuration& configuration, int rank) {
  const int p = configuration.layout.pipeline, v = configuration.layout.virtual_stages, m = configuration.accumulate;
  if (p == 1) return 1.0;
  switch (configuration.schedule) {
    case ScheduleKind::gpipe:
      return m;
    case ScheduleKind::one_f_one_b:
      return pipeline::in_flight_1f1b(p, m, rank);
    case ScheduleKind::interleaved:
      return static_cast<double>(pipeline::in_flight_interleaved(p, m, v, rank)) / v;
    case ScheduleKind::zb_h1:
      return std::min<double>(m, pipeline::in_flight_zb_h1(p, rank, pipeline::kShareForWeights));
    case ScheduleKind::zb_v:
      return std::min(m, p);
    case ScheduleKind::dualpipe:
      break;
  }
  return 0.5 * std::min(2 * m, pipeline::in_flight_dualpipe(p));
}

const NetworkPart& FastMemory::part(const RankShare& share, const PartKey& key) {
  if (const auto known = parts_.find(key); known != parts_.end()) return known->second;
  // Layers of the middle stand between the ends that are asked for.
  const int all = share.stage_layers();
  std::vector<bool> held(share.layers.layers(), false);
  int left = std::min(key.layers, all);
  if (key.ends.last) {
    held[at(all - 1)] = true;
    if (share.head) held.back() = true;
    --left;
  }
  for (int layer = key.ends.first ? 0 : std::min(1, all - left); left > 0 && layer < all; ++layer) {
    if (held[at(layer)]) continue;
    held[at(layer)] = true;
    --left;
  }
  std::vector<int> here(share.graph.ops.size());
  for (std::size_t op = 0; op < here.size(); ++op) here[op] = held[at(share.layers.layer_of[op])] ? 1 : 0;
  return parts_.emplace(key, pipeline_part(share.graph, here, key.recompute, 1.0)).first->second;
}

RankMemory FastMemory::replay(const Configuration& configuration, const RankShare& share, Ends ends, int layers,
                              double in_flight) {
  NetworkPart own = part(share, {ends, layers, configuration.recompute});
  own.place.in_flight = in_flight;
  return part_memory(configuration, kernels_, own).ranks.front();
}

/// What a small stage holds beside its arrays.
Bytes FastMemory::corner(const Configuration& configuration, const RankShare& share, Ends ends, std::size_t which) {
  Configuration small = base_;
  small.layout = configuration.layout;
  small.recompute = configuration.recompute;
  small.accumulate = configuration.accumulate;
  small.zero = 0;
  small.batch = (which & 2) == 0 ? 1 : 2;
  const RankMemory rank = replay(small, share, ends, (which & 1) == 0 ? kFewLayers : kMoreLayers, (which & 4) == 0 ? 1.0 : 2.0);
  return rank.peak - of_arrays(rank) - rank.parts[MemoryPart::slack];
}

FastMemory::State FastMemory::state(const Configuration& configuration, const RankShare& share) {
  const int ranks = configuration.sharding() == 0 ? 1 : configuration.layout.data * configuration.layout.context;
  const StateKey key{configuration.sharding(), ranks, configuration.accumulate > 1};
  const auto [place, fresh] = states_.try_emplace(key);
  if (!fresh) return place->second;
  Configuration small = base_;
  small.layout = configuration.layout;
  small.zero = configuration.zero;
  small.accumulate = configuration.accumulate;
  small.recompute = Recompute::none;
  small.batch = 1;
  const Ends ends{};
  const RankMemory few = replay(small, share, ends, kFewLayers, 1.0), more = replay(small, share, ends, kMoreLayers, 1.0);
  const auto begin = [&](int count) { return at(std::clamp(share.stage_layers() - count, 0, 1)); };
  const auto count = [&](int layers) {
    return share.elements(begin(layers), std::min(begin(layers) + at(layers), at(share.stage_layers()))).all();
  };
  const std::array<double, 2> layers{count(kFewLayers), count(kMoreLayers)};
  State& state = place->second;
  if (layers[1] > layers[0]) {
    state.of_element = (1.0 / (layers[1] - layers[0])) * (of_arrays(more) - of_arrays(few));
    state.beside = std::max(Bytes(0.0), of_arrays(few) - layers[0] * state.of_element);
  } else if (layers[0] > 0.0) {
    state.of_element = (1.0 / layers[0]) * of_arrays(few);
  }
  return state;
}

Bytes FastMemory::beside_arrays(const Configuration& configuration, const RankShare& share, Ends ends, double layers,
                                double in_flight) {
  StageMap& map = stages_[{ends, configuration.recompute, configuration.accumulate > 1}];
  const auto at_corner = [&](std::size_t which) {
    if (!map[which]) map[which] = corner(configuration, share, ends, which);
    return *map[which];
  };
  const double by_layers = (layers - kFewLayers) / (kMoreLayers - kFewLayers), by_batch = configuration.batch - 1.0;
  const auto by_flight = [&](std::size_t which) {
    return in_flight <= 1.0 ? at_corner(which) : along(at_corner(which), at_corner(which + 4), in_flight - 1.0);
  };
  const Bytes one = along(by_flight(0), by_flight(1), by_layers);
  return configuration.batch == 1 ? one : along(one, along(by_flight(2), by_flight(3), by_layers), by_batch);
}

Bytes FastMemory::arrays(const Configuration& configuration, const RankShare& share, const StagePlaces& stages) {
  const State arrays = state(configuration, share);
  double most = 0.0;
  for (const RankKind& kind : stages.kinds) most = std::max(most, kind.elements.all());
  return arrays.beside + most * arrays.of_element;
}

Bytes FastMemory::held(const Configuration& configuration, const RankShare& share, const StagePlaces& stages) {
  const State arrays = state(configuration, share);
  Bytes most(0.0);
  for (const RankKind& kind : stages.kinds) {
    double ahead = 0.0;
    for (const int rank : kind.ranks) ahead = std::max(ahead, in_flight(configuration, rank));
    const Bytes beside = beside_arrays(configuration, share, kind.ends, static_cast<double>(kind.layers), ahead);
    most = std::max(most, beside + arrays.beside + kind.elements.all() * arrays.of_element);
  }
  return most;
}

}  // namespace tbdsim::plan
