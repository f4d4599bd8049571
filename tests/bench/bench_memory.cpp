// Goals set on: AMD EPYC (family 26), 2 cores of a shared virtual machine, GCC 12, Release.
#include "model/prediction/memory_report.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/step_case.hpp"

namespace tbdsim::bench {

namespace {

constexpr int kRuns = 20;

/// Lifetimes and allocator of one step, without the kernel costs, which `predict` has anyway.
void replays(Report& report) {
  for (const auto& [variant, plan] : {std::pair{"torchvision", MemoryPlan::caching_allocator}, {"mxnet", MemoryPlan::mxnet}}) {
    const ZooEntry* entry = find_network("resnet152", variant).value();
    const OpGraph graph = entry->build(*entry, {}).value();
    const TrainingStep step = training_step(graph);
    std::vector<StepNode> nodes;
    for (const auto* part : {&step.forward, &step.backward, &step.update}) nodes.insert(nodes.end(), part->begin(), part->end());
    Stack stack;
    stack.framework = variant == std::string_view("mxnet") ? Framework::mxnet : Framework::pytorch;
    stack.memory.plan = plan;
    FootprintOptions options;
    options.batch = 256;
    report.time(std::string("memory replay of resnet152@") + variant + ", batch 256", Seconds(5e-3), kRuns,
                [&] { keep(step_memory(graph, nodes, {}, stack, options)); });
  }
}

}  // namespace

void bench_memory(Report& report) {
  replays(report);
  PredictOptions options;
  options.hardware = "dgx1";
  options.model = "resnet50";
  const auto session = open_session(catalogue());
  report.time("largest batch of resnet50 on dgx1, files read", Seconds(50e-3), kRuns,
              [&] { keep(largest_batch(*session, options)); });
}

}  // namespace tbdsim::bench
