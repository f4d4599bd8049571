#include "model/plan/layer_table.hpp"

#include <algorithm>
#include <cmath>

#include "model/cost/issue.hpp"
#include "model/workload/shard.hpp"
#include "model/workload/stages.hpp"

namespace tbdsim::plan {
namespace {

constexpr double kClockPerPower = 0.55;  // power ~ f^(1/0.55): kept_clock.hpp

std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr std::array kFigures{&RunTimes::forward,          &RunTimes::backward,        &RunTimes::forward_kernels,
                              &RunTimes::backward_kernels, &RunTimes::forward_memory,  &RunTimes::backward_memory,
                              &RunTimes::weights,          &RunTimes::forward_experts, &RunTimes::backward_experts};

PassBeside beside(Seconds time, Seconds kernels, Seconds memory) {
  return {time, kernels > Seconds(0.0) ? memory / kernels : 0.0};
}

}  // namespace

Result<DrawnKernels> DrawnKernels::make(const Configuration& configuration) {
  auto full =
      KernelModel::make(configuration.hardware().device, configuration.precision, configuration.stack, **configuration.constants);
  if (!full) return tl::make_unexpected(full.error());
  DrawnKernels drawn;
  for (const double share : kShares) {
    drawn.models_.push_back(*full);
    if (share < 1.0) drawn.models_.back().draw(share);
  }
  return drawn;
}

DrawPlace DrawPlace::of(double share) {
  const auto& shares = DrawnKernels::kShares;
  std::size_t level = 0;
  while (level + 2 < shares.size() && share < shares[level + 1]) ++level;
  const double upper = least_product_time(shares[level]), lower = least_product_time(shares[level + 1]);
  return {level, std::clamp((upper - least_product_time(share)) / (upper - lower), 0.0, 1.0)};
}

double least_product_time(double share) { return std::pow(share, kClockPerPower); }

RunTimes& RunTimes::operator+=(const RunTimes& more) {
  for (const auto figure : kFigures) this->*figure += more.*figure;
  return *this;
}

RunTimes RunTimes::of(const PassTime& forward, const PassTime& backward, Seconds weights) {
  constexpr auto kExperts = static_cast<std::size_t>(Axis::expert);
  return {forward.time,    backward.time, forward.kernels,           backward.kernels,          forward.memory,
          backward.memory, weights,       forward.exposed[kExperts], backward.exposed[kExperts]};
}

PassBeside RunTimes::beside_forward() const { return beside(forward, forward_kernels, forward_memory); }
PassBeside RunTimes::beside_backward() const { return beside(backward, backward_kernels, backward_memory); }

RunTimes operator*(double factor, RunTimes times) {
  for (const auto figure : kFigures) times.*figure *= factor;
  return times;
}

std::vector<std::size_t> RankShare::first_layers(int stages, const std::vector<int>& stage_sizes,
                                                 const std::vector<int>& ranks) const {
  const std::vector<int> plain = tbdsim::first_layers(stages, stage_layers(), stage_sizes, ranks);
  std::vector<std::size_t> first(plain.begin(), plain.end());
  first.back() = layers.layers();  // the head
  return first;
}

Result<RankShare> rank_share(const OpGraph& graph, const Layout& layout) {
  auto divided = shard(graph, layout);
  if (!divided) return tl::make_unexpected(divided.error());
  RankShare share{std::move(*divided), {}, {}, false, {0.0}, {0.0}, {0}, {}, 0.0};
  share.table = copied_table(share.graph);
  share.layers = fold_layers(share.graph);
  share.nodes = class_nodes(share.graph, share.layers);
  share.head = share.layers.layers() > 1 && is_loss(share.graph.ops.back().kind);
  for (int layer = 0; layer < static_cast<int>(share.layers.layers()); ++layer) {
    const LayerArrays arrays = layer_arrays(share.graph, share.layers, layer);
    share.dense.push_back(share.dense.back() + arrays.parameters);
    share.experts.push_back(share.experts.back() + arrays.expert_parameters);
    share.counts.push_back(share.counts.back() + arrays.count);
  }
  for (const int example : share.layers.example) share.sizes.push_back(layer_arrays(share.graph, share.layers, example).sizes);
  return share;
}

LayerTable::LayerTable(const Configuration& configuration, const RankShare& share, const DrawnKernels& kernels, GroupPlans& plans)
    : share_(share),
      kernels_(kernels),
      plans_(plans),
      stack_(configuration.stack),
      setting_(layer_setting(configuration, kernels.at(0), stack_)) {
  const Level& full = level(0);
  for (const int which : share.layers.class_of) boundary_.push_back(full.costs[at(which)].boundary);
}

const LayerTable::Level& LayerTable::level(std::size_t which) {
  std::optional<Level>& known = levels_[which];
  if (known) return *known;
  LayerSetting setting{kernels_.at(which),    stack_,           setting_.batch,     setting_.host_scale,
                       setting_.slowdown,     setting_.element, setting_.recompute, setting_.expert_ranks,
                       setting_.tensor_ranks, setting_.gathers, setting_.sum};
  Level& made = known.emplace();
  made.costs = layer_costs(share_.graph, share_.layers, share_.nodes, setting, plans_);
  RunTimes sum;
  made.sums.push_back(sum);
  for (const int layer_class : share_.layers.class_of) {
    const LayerCost& cost = made.costs[at(layer_class)];
    sum += RunTimes::of(cost.forward, cost.backward, cost.weights);
    made.sums.push_back(sum);
  }
  return made;
}

RunTimes LayerTable::run(const std::vector<int>& classes, DrawPlace draw) {
  RunTimes sum;
  const auto add = [&](const Level& one, double share) {
    for (std::size_t i = 0; i < classes.size(); ++i) {
      if (classes[i] == 0) continue;
      const LayerCost& cost = one.costs[i];
      sum += share * classes[i] * RunTimes::of(cost.forward, cost.backward, cost.weights);
    }
  };
  add(level(draw.level), 1.0 - draw.part);
  if (draw.part > 0.0) add(level(draw.level + 1), draw.part);
  return sum;
}

RunTimes LayerTable::run(std::size_t begin, std::size_t end, DrawPlace draw) {
  const auto at_level = [&](const Level& one) {
    RunTimes run = one.sums[end];
    for (const auto figure : kFigures) run.*figure -= one.sums[begin].*figure;
    return run;
  };
  RunTimes here = at_level(level(draw.level));
  if (draw.part <= 0.0) return here;
  RunTimes sum = (1.0 - draw.part) * here;
  sum += draw.part * at_level(level(draw.level + 1));
  return sum;
}

RunTimes LayerTable::sharded_run(DataExchange& data, DrawPlace draw) {
  const auto at_level = [&](const Level& one) {
    std::vector<const LayerCost*> layers;
    for (const int which : share_.layers.class_of) layers.push_back(&one.costs[at(which)]);
    const PassTime forward = data.pass(layers, false), backward = data.pass(layers, true);
    return RunTimes::of(forward, backward, Seconds(0.0));
  };
  const RunTimes here = at_level(level(draw.level));
  if (draw.part <= 0.0) return here;
  RunTimes sum = (1.0 - draw.part) * here;
  sum += draw.part * at_level(level(draw.level + 1));
  return sum;
}

}  // namespace tbdsim::plan
