#include "model/prediction/memory_estimator.hpp"

#include <algorithm>
#include <map>

#include "model/schedule/pipeline/in_flight.hpp"
#include "model/workload/shard.hpp"
#include "model/workload/stages.hpp"

namespace tbdsim {

namespace {

/// What tells stages apart, but for the micro-batches in flight: operators, arrays, and which ends of the network they hold.
struct StageLikeness {
  std::size_t operators = 0;
  std::int64_t elements = 0;
  bool first = false, last = false;
  auto operator<=>(const StageLikeness&) const = default;
};

StageLikeness likeness(const OpGraph& graph, const std::vector<int>& here) {
  StageLikeness likeness{0, 0, here.front() == 1, here.back() == 1};
  for (std::size_t op = 0; op < here.size(); ++op) {
    if (here[op] == 0) continue;
    ++likeness.operators;
    for (const ParameterId id : graph.ops[op].parameters) likeness.elements += elements(graph.parameter(id).shape);
  }
  return likeness;
}

/// What a rank of a pipeline holds.
struct StageOfRank {
  std::vector<int> here;  ///< whether it has each operator
  double ahead = 1;       ///< micro-batches in flight
};

/// Leaves one of stages alike.
std::vector<StageOfRank> unlike(const OpGraph& graph, std::vector<StageOfRank> ranks) {
  std::map<StageLikeness, StageOfRank> found;
  for (StageOfRank& rank : ranks) {
    StageOfRank& best = found[likeness(graph, rank.here)];
    if (best.here.empty() || rank.ahead > best.ahead) best = std::move(rank);
  }
  std::vector<StageOfRank> left;
  for (auto& [key, rank] : found) left.push_back(std::move(rank));
  return left;
}

}  // namespace

Result<MemoryEstimator> MemoryEstimator::make(Configuration configuration, StagesLookedAt stages) {
  auto kernels =
      KernelModel::make(configuration.hardware().device, configuration.precision, configuration.stack, **configuration.constants);
  if (!kernels) return tl::make_unexpected(kernels.error());
  MemoryEstimator estimator(std::move(configuration), std::move(*kernels));
  if (const auto divided = estimator.divide(stages); !divided) return tl::make_unexpected(divided.error());
  return estimator;
}

MemoryEstimator::MemoryEstimator(Configuration configuration, KernelModel kernels)
    : configuration_(std::move(configuration)), kernels_(std::move(kernels)) {}

void MemoryEstimator::add_part(std::shared_ptr<const OpGraph> graph, TrainingStep step, PartOfNetwork place) {
  Part part{std::move(graph), {}, place};
  for (const auto* nodes : {&step.forward, &step.backward, &step.update})
    std::copy_if(nodes->begin(), nodes->end(), std::back_inserter(part.nodes),
                 [&](const StepNode& node) { return part.graph->op(node.op).kind != OpKind::input; });
  parts_.push_back(std::move(part));
}

Result<void> MemoryEstimator::divide(StagesLookedAt stages) {
  // The graph lives as long as the workload that holds it.
  const std::shared_ptr<const OpGraph> whole(configuration_.workload, &configuration_.network_graph().graph);
  graph_ = whole;
  if (!configuration_.divided()) {
    add_part(whole, configured_step(configuration_), {});
    return {};
  }
  const Layout& layout = configuration_.layout;
  const auto share = shard(*whole, layout);
  if (!share) return tl::make_unexpected(share.error());
  const auto stage = even_stages(*share, configuration_.pipeline_stages());
  if (!stage) return tl::make_unexpected(stage.error());
  if (layout.pipeline == 1) {
    auto graph = std::make_shared<const OpGraph>(std::move(*share));
    add_part(graph, with_recompute(*graph, training_step(*graph), configuration_.recompute), {1, false});
    return {};
  }
  const auto table = configured_schedule(configuration_);
  if (!table) return tl::make_unexpected(table.error());
  std::vector<StageOfRank> ranks;
  for (int rank = 0; rank < layout.pipeline; ++rank) {
    StageOfRank own{std::vector<int>(stage->size(), 0), pipeline::peak_in_flight(*table, rank) / layout.virtual_stages};
    for (int chunk = 0; chunk < layout.virtual_stages; ++chunk) {
      const int part = table->stage_of({rank, chunk});
      for (std::size_t op = 0; op < own.here.size(); ++op) own.here[op] |= (*stage)[op] == part ? 1 : 0;
    }
    ranks.push_back(std::move(own));
  }
  if (stages == StagesLookedAt::unlike) ranks = unlike(*share, std::move(ranks));
  for (const auto& [here, ahead] : ranks) {
    auto graph = std::make_shared<const OpGraph>(stage_share(*share, here, 1));
    const bool last = here.back() == 1;
    TrainingStep step = with_recompute(*graph, training_step(*graph), configuration_.recompute, !last);
    add_part(std::move(graph), std::move(step), {ahead, here.front() == 0});
  }
  return {};
}

StepMemory MemoryEstimator::at(const Part& part) {
  costs_.clear();
  // Only what asks for scratch memory is priced; of a network that is not divided, all of it, as its step is.
  for (const StepNode& node : part.nodes) {
    const OpFamily family = info(part.graph->op(node.op).kind).family;
    const bool scratch = family == OpFamily::convolution || family == OpFamily::attention || family == OpFamily::recurrent;
    costs_.push_back(!configuration_.divided() || scratch
                         ? kernels_.cost(*part.graph, node, static_cast<double>(configuration_.batch))
                         : NodeCost{});
  }
  if (!configuration_.divided()) return estimate_memory(configuration_, part.nodes, costs_);
  return estimate_memory(configuration_, *part.graph, part.nodes, costs_, part.place);
}

StepMemory MemoryEstimator::at(int batch) {
  configuration_.batch = batch;
  StepMemory most = at(parts_.front());
  graph_ = parts_.front().graph;
  // Of a divided network the first copy is told.
  if (configuration_.divided()) most.ranks.resize(1);
  if (parts_.size() == 1) return most;
  std::vector<RankMemory> stages{most.ranks.front()};
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    StepMemory memory = at(parts_[i]);
    stages.push_back(memory.ranks.front());
    if (!(memory.ranks.front().peak > most.ranks.front().peak)) continue;
    most = std::move(memory);
    graph_ = parts_[i].graph;
  }
  most.ranks = std::move(stages);
  return most;
}

const RankMemory& fullest(const StepMemory& memory) {
  return *std::max_element(memory.ranks.begin(), memory.ranks.end(),
                           [](const RankMemory& a, const RankMemory& b) { return a.peak < b.peak; });
}

}  // namespace tbdsim
