#include "model/prediction/memory_estimator.hpp"

#include <algorithm>
#include <map>

#include "model/configuration/choose_stages.hpp"
#include "model/schedule/pipeline/in_flight.hpp"
#include "model/workload/shard.hpp"
#include "model/workload/stages.hpp"

namespace tbdsim {
namespace {

NetworkPart part_of(std::shared_ptr<const OpGraph> graph, const TrainingStep& step, PartOfNetwork place) {
  NetworkPart part{std::move(graph), {}, place};
  for (const auto* nodes : {&step.forward, &step.backward, &step.update})
    std::copy_if(nodes->begin(), nodes->end(), std::back_inserter(part.nodes),
                 [&](const StepNode& node) { return part.graph->op(node.op).kind != OpKind::input; });
  return part;
}

/// Costs of nodes that ask for scratch memory, or of all.
std::vector<NodeCost> scratch_costs(const KernelModel& kernels, const NetworkPart& part, double batch, bool all) {
  std::vector<NodeCost> costs;
  const std::vector<Bytes> widths = kernels.widths(*part.graph);
  for (const StepNode& node : part.nodes) {
    const OpFamily family = info(part.graph->op(node.op).kind).family;
    const bool scratch = family == OpFamily::convolution || family == OpFamily::attention || family == OpFamily::recurrent;
    costs.push_back(all || scratch ? kernels.cost(*part.graph, node, batch, widths) : NodeCost{});
  }
  return costs;
}

}  // namespace

NetworkPart pipeline_part(const OpGraph& share, const std::vector<int>& here, Repetition repetition, double in_flight) {
  auto graph = std::make_shared<const OpGraph>(stage_share(share, here, 1));
  const bool last = here.back() == 1;
  const TrainingStep step = with_recompute(*graph, training_step(*graph), repetition, !last);
  return part_of(std::move(graph), step, {in_flight, here.front() == 0});
}

StepMemory part_memory(const Configuration& configuration, const KernelModel& kernels, const NetworkPart& part) {
  return estimate_memory(configuration, *part.graph, part.nodes,
                         scratch_costs(kernels, part, static_cast<double>(configuration.batch), false), part.place);
}

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
  left.reserve(found.size());
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

Result<void> MemoryEstimator::divide(StagesLookedAt stages) {
  // The graph lives as long as the workload that holds it.
  const std::shared_ptr<const OpGraph> whole(configuration_.workload, &configuration_.network_graph().graph);
  graph_ = whole;
  if (!configuration_.divided()) {
    parts_.push_back(part_of(whole, configured_step(configuration_), {}));
    return {};
  }
  const Layout& layout = configuration_.layout;
  auto share = shard(*whole, layout);
  if (!share) return tl::make_unexpected(share.error());
  const auto stage = stages_of(*share, configuration_.pipeline_stages(), layout.stage_layers, ranks_of_stages(configuration_));
  if (!stage) return tl::make_unexpected(stage.error());
  if (layout.pipeline == 1) {
    auto graph = std::make_shared<const OpGraph>(std::move(*share));
    parts_.push_back(part_of(graph, with_recompute(*graph, training_step(*graph), repetition(configuration_)), {1, false}));
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
  for (const auto& [here, ahead] : ranks) parts_.push_back(pipeline_part(*share, here, repetition(configuration_), ahead));
  return {};
}

StepMemory MemoryEstimator::at(const NetworkPart& part) {
  if (configuration_.divided()) return part_memory(configuration_, kernels_, part);
  // Of a network that is not divided, all is priced, as its step is.
  return estimate_memory(configuration_, part.nodes,
                         scratch_costs(kernels_, part, static_cast<double>(configuration_.batch), true));
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
