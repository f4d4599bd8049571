#include "model/prediction/profiling_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "model/configuration/configure.hpp"
#include "model/cost/kernel_model.hpp"

namespace tbdsim {
namespace {

/// Size of a kernel's record and of that of its launch: CUpti_ActivityKernel4 and CUpti_ActivityAPI of CUDA's cupti_activity.h.
constexpr Bytes kKernelRecord{144.0}, kLaunchRecord{40.0};
/// Host time that recording adds to a launch. Assumed: profiles that were published show 5 to 6 us for a launch that takes
/// 4 us or more without a profiler, so between nothing and 2 us.
constexpr Seconds kTracedLaunch{2e-6};
/// Time for which the device is empty around a kernel that runs alone: a launch and a wait of the host. Assumed, from the
/// same profiles: 5 us the one, 5 us the other, per run of a kernel.
constexpr Seconds kAlone{10e-6};

struct Trials {
  int shapes = 0, count = 0;
  Seconds time;
};

/// What tells convolutions apart for a library: the shapes of both ends, the filter, the pass.
std::string key_of(const OpGraph& graph, const StepNode& node) {
  const Op& op = graph.op(node.op);
  const auto& a = std::get<ConvolutionAttributes>(op.attributes);
  return fmt::format("{} {} {} {} {} {} {} {} {} {}", fmt::join(graph.input_shape(op), "x"),
                     fmt::join(graph.output_shape(op), "x"), a.kernel_h, a.kernel_w, a.stride_h, a.stride_w, a.groups,
                     op.kind == OpKind::transposed_convolution, a.bias, static_cast<int>(node.pass));
}

std::vector<StepNode> distinct_convolutions(const Configuration& configuration) {
  const OpGraph& graph = configuration.network_graph().graph;
  std::set<std::string> seen;
  std::vector<StepNode> nodes;
  const TrainingStep step = configured_step(configuration);
  for (const auto* passes : {&step.forward, &step.backward}) {
    for (const StepNode& node : *passes) {
      if (node.pass != Pass::forward && node.pass != Pass::backward_data && node.pass != Pass::backward_weights) continue;
      if (!std::holds_alternative<ConvolutionAttributes>(graph.op(node.op).attributes)) continue;
      if (seen.insert(key_of(graph, node)).second) nodes.push_back(node);
    }
  }
  return nodes;
}

Result<Trials> trials_of(const Configuration& configuration) {
  const OpGraph& graph = configuration.network_graph().graph;
  const std::vector<StepNode> nodes = distinct_convolutions(configuration);
  Trials trials{static_cast<int>(nodes.size()), 0, {}};
  const ConvolutionLibrary& library = configuration.stack.convolution;
  std::set<ConvolutionAlgorithm> offered;
  for (const auto* pass : {&library.forward, &library.backward_data, &library.backward_weights})
    offered.insert(pass->begin(), pass->end());
  for (const ConvolutionAlgorithm algorithm : offered) {
    // A library that offers this one alone: a shape for which it does not exist falls back to another and is no trial.
    Stack only = configuration.stack;
    for (auto* pass : {&only.convolution.forward, &only.convolution.backward_data, &only.convolution.backward_weights})
      pass->erase(std::remove_if(pass->begin(), pass->end(), [&](ConvolutionAlgorithm a) { return a != algorithm; }),
                  pass->end());
    const auto kernels =
        KernelModel::make(configuration.hardware().device, configuration.precision, only, **configuration.constants);
    if (!kernels) return tl::make_unexpected(kernels.error());
    for (const StepNode& node : nodes) {
      const NodeCost cost = kernels->cost(graph, node, configuration.batch);
      if (cost.algorithm != algorithm) continue;
      ++trials.count;
      trials.time += cost.kernel.time;
    }
  }
  return trials;
}

/// Launches of one GPU in a step; a recurrent layer launches its cells one by one.
Result<int> launches_of(const Configuration& configuration, const Prediction& prediction) {
  const auto kernels =
      KernelModel::make(configuration.hardware().device, configuration.precision, configuration.stack, **configuration.constants);
  if (!kernels) return tl::make_unexpected(kernels.error());
  const TrainingStep step = configured_step(configuration);
  auto launches = static_cast<int>(std::count_if(prediction.detail.kernels.begin(), prediction.detail.kernels.end(),
                                                 [](const KernelTime& kernel) { return kernel.pass == Pass::update; }));
  for (const auto* passes : {&step.forward, &step.backward}) {
    for (const StepNode& node : *passes) {
      const KernelTimeModel kernel = kernels->cost(configuration.network_graph().graph, node, configuration.batch).kernel;
      if (kernel.time > Seconds(0.0)) launches += configuration.accumulate * kernel.kernels;
    }
  }
  return launches;
}

}  // namespace

Result<ProfilingCost> profiling_cost(Session& session, const PredictOptions& options, const Prediction& prediction,
                                     ProfilingPlan plan) {
  if (plan.skip < 0) return fail(fmt::format("--skip {}: expected at least 0 steps", plan.skip));
  if (plan.iterations < 1) return fail(fmt::format("--iterations {}: expected at least 1 step", plan.iterations));
  const auto configuration = configure(session, options);
  if (!configuration) return tl::make_unexpected(configuration.error());
  const auto trials = trials_of(*configuration);
  if (!trials) return tl::make_unexpected(trials.error());
  const Seconds step = prediction.step_time.value;
  const auto kernels = launches_of(*configuration, prediction);
  if (!kernels) return tl::make_unexpected(kernels.error());
  ProfilingCost cost{plan, trials->shapes, trials->count, trials->time, {}, *kernels, {step, step, step}, {}, {}};
  cost.before = prediction.start_up + cost.warm_up + static_cast<double>(plan.skip) * step;
  const BytesPerSecond memory = configuration->hardware().device.memory_bandwidth;
  const Bytes allocated = prediction.memory.gpus.front().allocated;
  Seconds least = step, most = step;
  for (const KernelTime& kernel : prediction.detail.kernels) {
    if (kernel.time <= Seconds(0.0)) continue;
    // Saved once and restored once.
    least += kernel.time + 2.0 * kernel.bytes / memory;
    most += kernel.time + 2.0 * std::max(kernel.bytes, allocated) / memory;
  }
  const double launches = cost.kernels;
  least += 2.0 * launches * kAlone;
  most += 2.0 * launches * kAlone;
  // Where the host is behind anyway, every launch counts; elsewhere none does.
  const bool late = prediction.phases.host_exposed > 0.05 * step;
  cost.traced.high = step + launches * kTracedLaunch;
  cost.traced.value = late ? step + 0.5 * launches * kTracedLaunch : step;
  cost.trace_per_step = launches * (kKernelRecord + kLaunchRecord);
  cost.replayed = {Seconds(std::sqrt(least.base() * most.base())), least, most};
  return cost;
}

}  // namespace tbdsim
