#include "model/prediction/memory_estimator.hpp"

#include <algorithm>

#include "model/workload/shard.hpp"
#include "model/workload/stages.hpp"

namespace tbdsim {

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

void MemoryEstimator::add_part(std::shared_ptr<const OpGraph> graph, TrainingStep step, PartOfNetwork place) {
  Part part{std::move(graph), {}, place};
  for (const auto* nodes : {&step.forward, &step.backward, &step.update})
    std::copy_if(nodes->begin(), nodes->end(), std::back_inserter(part.nodes),
                 [&](const StepNode& node) { return part.graph->op(node.op).kind != OpKind::input; });
  parts_.push_back(std::move(part));
}

Result<void> MemoryEstimator::divide() {
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
  const auto chunk = even_stages(*share, layout.chunks());
  if (!chunk) return tl::make_unexpected(chunk.error());
  std::vector<int> rank = *chunk;
  for (int& of : rank) of %= layout.pipeline;
  for (int which = 0; which < layout.pipeline; ++which) {
    auto graph = std::make_shared<const OpGraph>(stage_share(*share, rank, which));
    TrainingStep step = with_recompute(*graph, training_step(*graph), configuration_.recompute, which + 1 < layout.pipeline);
    // One forward, one backward in turn: a stage runs ahead by as many micro-batches as there are stages from it on.
    const int ahead = std::min(configuration_.accumulate, layout.pipeline - which);
    add_part(std::move(graph), std::move(step), {ahead, which > 0});
  }
  return {};
}

StepMemory MemoryEstimator::at(const Part& part) {
  costs_.clear();
  for (const StepNode& node : part.nodes)
    costs_.push_back(kernels_.cost(*part.graph, node, static_cast<double>(configuration_.batch)));
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
