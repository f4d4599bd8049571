#pragma once
#include <string>

#include "model/cost/kernel_model.hpp"
#include "model/hardware/lookup.hpp"
#include "model/stack/stack.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/architectures.hpp"

namespace tbdsim::property {

/// A network at a batch.
struct Work {
  std::string name;
  OpGraph graph;
  TrainingStep step;
  double batch;
};

/// Expects a network of the zoo. An empty variant is the usual one.
inline Work work(const std::string& name, const std::string& variant, double batch) {
  OpGraph graph = build_network(*find_network(name, variant).value(), {}).value();
  TrainingStep step = training_step(graph);
  return {name, std::move(graph), std::move(step), batch};
}

inline Stack stack(const std::string& name) { return load_stack(TBDSIM_SOURCE_DIR, name).value(); }

inline const KernelConstants& constants() {
  static const KernelConstants kConstants =
      read_kernel_constants(TBDSIM_SOURCE_DIR "/hardware/kernels.toml", all_architectures()).value();
  return kConstants;
}

/// Time of all kernels of a step, one after the other.
inline Seconds kernels_of(const Device& device, Precision precision, const Stack& stack, const Work& work) {
  const KernelModel model = KernelModel::make(device, precision, stack, constants()).value();
  Seconds sum(0.0);
  for (const auto* part : {&work.step.forward, &work.step.backward, &work.step.update})
    for (const StepNode& node : *part) sum += model.cost(work.graph, node, work.batch).kernel.time;
  return sum;
}

}  // namespace tbdsim::property
