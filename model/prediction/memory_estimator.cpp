#include "model/prediction/memory_estimator.hpp"

#include <algorithm>

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

NetworkPart pipeline_part(const OpGraph& share, const std::vector<int>& here, Recompute recompute, double in_flight) {
  auto graph = std::make_shared<const OpGraph>(stage_share(share, here, 1));
  const bool last = here.back() == 1;
  const TrainingStep step = with_recompute(*graph, training_step(*graph), recompute, !last);
  return part_of(std::move(graph), step, {in_flight, here.front() == 0});
}

StepMemory part_memory(const Configuration& configuration, const KernelModel& kernels, const NetworkPart& part) {
  return estimate_memory(configuration, *part.graph, part.nodes,
                         scratch_costs(kernels, part, static_cast<double>(configuration.batch), false), part.place);
}

Result<MemoryEstimator> MemoryEstimator::make(Configuration configuration) {
  auto kernels =
      KernelModel::make(configuration.hardware().device, configuration.precision, configuration.stack, **configuration.constants);
  if (!kernels) return tl::make_unexpected(kernels.error());
  MemoryEstimator estimator(std::move(configuration), std::move(*kernels));
  if (const auto divided = estimator.divide(); !divided) return tl::make_unexpected(divided.error());
  return estimator;
}

MemoryEstimator::MemoryEstimator(Configuration configuration, KernelModel kernels)
    : configuration_(std::move(configuration)), kernels_(std::move(kernels)) {}

Result<void> MemoryEstimator::divide() {
  // The graph lives as long as the workload that holds it.
  const std::shared_ptr<const OpGraph> whole(configuration_.workload, &configuration_.network_graph().graph);
  graph_ = whole;
  if (!configuration_.divided()) {
    parts_.push_back(part_of(whole, configured_step(configuration_), {}));
    return {};
  }
  const Layout& layout = configuration_.layout;
  const auto share = shard(*whole, layout);
  if (!share) return tl::make_unexpected(share.error());
  const auto stage = even_stages(*share, configuration_.pipeline_stages());
  if (!stage) return tl::make_unexpected(stage.error());
  if (layout.pipeline == 1) {
    auto graph = std::make_shared<const OpGraph>(std::move(*share));
    parts_.push_back(part_of(graph, with_recompute(*graph, training_step(*graph), configuration_.recompute), {1, false}));
    return {};
  }
  const auto table = configured_schedule(configuration_);
  if (!table) return tl::make_unexpected(table.error());
  for (int rank = 0; rank < layout.pipeline; ++rank) {
    std::vector<int> here(stage->size(), 0);
    for (int chunk = 0; chunk < layout.virtual_stages; ++chunk) {
      const int own = table->stage_of({rank, chunk});
      for (std::size_t op = 0; op < here.size(); ++op) here[op] |= (*stage)[op] == own ? 1 : 0;
    }
    const double ahead = pipeline::peak_in_flight(*table, rank) / layout.virtual_stages;
    parts_.push_back(pipeline_part(*share, here, configuration_.recompute, ahead));
  }
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
