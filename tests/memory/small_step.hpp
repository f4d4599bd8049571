// A step of ResNet-50 under a stack of few words, for tests of what memory it takes.
#pragma once
#include <algorithm>

#include "model/memory/footprint.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"

namespace tbdsim::small_step {

struct Network {
  OpGraph graph;
  std::vector<StepNode> nodes;
};

inline Network network(OpGraph graph) {
  Network n{std::move(graph), {}};
  const TrainingStep step = training_step(n.graph);
  for (const auto* part : {&step.forward, &step.backward, &step.update})
    n.nodes.insert(n.nodes.end(), part->begin(), part->end());
  return n;
}

inline Network network(const char* name, const char* variant = "torchvision") {
  const ZooEntry* entry = find_network(name, variant).value();
  return network(entry->build(*entry, {}).value());
}

inline const Network& resnet() {
  static const Network kNetwork = network("resnet50");
  return kNetwork;
}

inline Stack stack(MemoryPlan plan = MemoryPlan::caching_allocator) {
  Stack s;
  s.framework = plan == MemoryPlan::mxnet ? Framework::mxnet
                : plan == MemoryPlan::bfc ? Framework::tensorflow
                                          : Framework::pytorch;
  s.memory.plan = plan;
  s.features.gradients_from_start = plan == MemoryPlan::mxnet;
  s.memory.context = Bytes(0.5e9);
  s.exchange.bucket = Bytes(64e6);
  return s;
}

inline FootprintOptions batch(double samples) {
  FootprintOptions options;
  options.batch = samples;
  return options;
}

inline StepMemory of(const Network& n, const Stack& s, const FootprintOptions& options) {
  return step_memory(n.graph, n.nodes, {}, s, options);
}

inline constexpr MemoryPlan kPlans[] = {MemoryPlan::caching_allocator, MemoryPlan::bfc, MemoryPlan::mxnet, MemoryPlan::blobs};

/// The node with which backward begins.
inline std::int32_t turn_of(const StepMemory& memory) {
  const auto turn = std::find_if(memory.passes.begin(), memory.passes.end(), [](Pass p) { return p != Pass::forward; });
  return static_cast<std::int32_t>(turn - memory.passes.begin());
}

}  // namespace tbdsim::small_step
