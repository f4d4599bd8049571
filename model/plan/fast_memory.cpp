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

/// What is held beside arrays, without what the allocator keeps.
Bytes beside(const RankMemory& rank) { return rank.peak - of_arrays(rank) - rank.parts[MemoryPart::slack]; }

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
  return parts_.emplace(key, pipeline_part(share.graph, here, {key.recompute, base_.stack.parallel.recompute_stops}, 1.0))
      .first->second;
}

RankMemory FastMemory::replay(const Configuration& configuration, const RankShare& share, Ends ends, int layers, double in_flight,
                              Moment moment) {
  NetworkPart own = part(share, {ends, layers, configuration.recompute});
  if (moment != Moment::all)
    std::erase_if(own.nodes, [&](const StepNode& node) { return (node.pass == Pass::update) != (moment == Moment::update); });
  own.place.in_flight = in_flight;
  own.place.sample = true;
  return part_memory(configuration, kernels_, own).ranks.front();
}

/// What a small stage holds beside its arrays, until the update.
Bytes FastMemory::corner(const Configuration& configuration, const RankShare& share, Ends ends, std::size_t which) {
  Configuration small = base_;
  small.layout = configuration.layout;
  small.recompute = configuration.recompute;
  small.accumulate = configuration.accumulate;
  small.zero = 0;
  small.batch = (which & 2) == 0 ? 1 : 2;
  const int layers = (which & 1) == 0 ? kFewLayers : kMoreLayers;
  return beside(replay(small, share, ends, layers, (which & 4) == 0 ? 1.0 : 2.0, Moment::passes));
}

FastMemory::State FastMemory::state(const Configuration& configuration, const RankShare& share) {
  const bool divides = configuration.sharding() > 0;
  const ShardRanks ranks = divides ? shard_ranks(configuration) : ShardRanks{};
  const StateKey key{configuration.sharding(), ranks.dense, ranks.experts, configuration.accumulate > 1};
  const auto [place, fresh] = states_.try_emplace(key);
  if (!fresh) return place->second;
  Configuration small = base_;
  small.layout = configuration.layout;
  small.zero = configuration.zero;
  small.accumulate = configuration.accumulate;
  small.recompute = Recompute::none;
  small.batch = 1;
  const Ends ends{};
  const auto count = [&](int layers) {
    const std::size_t begin = at(std::clamp(share.stage_layers() - layers, 0, 1));
    return share.elements(begin, std::min(begin + at(layers), at(share.stage_layers())));
  };
  const Elements elements[2] = {count(kFewLayers), count(kMoreLayers)};
  const bool apart = elements[1].experts > 0.0 && ranks.experts != ranks.dense;
  // The same arrays, of which experts' are divided as all are.
  Configuration alike = small;
  alike.layout.expert = 1;
  alike.layout.expert_tensor = alike.layout.tensor;
  const auto line = [&](const auto& of_layers) {
    Line result;
    const Bytes few = of_layers(alike, kFewLayers), more = of_layers(alike, kMoreLayers);
    if (elements[1].all() > elements[0].all()) {
      result.of_element = (1.0 / (elements[1].all() - elements[0].all())) * (more - few);
      result.beside = std::max(Bytes(0.0), few - elements[0].all() * result.of_element);
    } else if (elements[0].all() > 0.0) {
      result.of_element = (1.0 / elements[0].all()) * few;
    }
    if (apart) result.more_of_experts = (1.0 / elements[1].experts) * (of_layers(small, kMoreLayers) - more);
    return result;
  };
  State& state = place->second;
  state.arrays = line([&](const Configuration& divided, int layers) {
    return of_arrays(replay(divided, share, ends, layers, 1.0, Moment::all));
  });
  state.update = line([&](const Configuration& divided, int layers) {
    return beside(replay(divided, share, ends, layers, 1.0, Moment::update));
  });
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
  const Line arrays = state(configuration, share).arrays;
  Bytes most = arrays.beside;
  for (const RankKind& kind : stages.kinds) most = std::max(most, arrays.of(kind.elements));
  return most;
}

Bytes FastMemory::held(const Configuration& configuration, const RankShare& share, const StagePlaces& stages) {
  const auto [arrays, update] = state(configuration, share);
  Bytes most(0.0);
  for (const RankKind& kind : stages.kinds) {
    double ahead = 0.0;
    for (const int rank : kind.ranks) ahead = std::max(ahead, in_flight(configuration, rank));
    const Bytes passes = beside_arrays(configuration, share, kind.ends, static_cast<double>(kind.layers), ahead);
    most = std::max(most, std::max(passes, update.of(kind.elements)) + arrays.of(kind.elements));
  }
  return most;
}

}  // namespace tbdsim::plan
