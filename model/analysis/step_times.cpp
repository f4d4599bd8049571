#include "model/analysis/step_times.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <numeric>

namespace tbdsim {
namespace {

using engine::TaskId;

std::size_t index(TaskId id) { return static_cast<std::size_t>(id.value); }

struct Window {
  SimTime begin, end;
};

/// From the end of the last but one iteration to the end of the last.
Window last_iteration(const LoweredStep& step, const engine::Timeline& timeline) {
  Window window{{0}, {0}};
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    SimTime& edge = step.tasks[i].iteration + 1 == step.iterations ? window.end : window.begin;
    // The host may already work on the next iteration: only what the device does ends an iteration, unless it has
    // nothing to do. An exchange that the next forward pass waits for ends none.
    const bool ends = step.carries_over ? step.tasks[i].work == Work::kernel : step.tasks[i].work != Work::host;
    if (ends || step.iterations == 1) edge = std::max(edge, timeline.end[i]);
  }
  return window;
}

enum class Stage { forward, backward, update };
Stage stage_of(Pass pass) {
  return pass == Pass::forward ? Stage::forward : pass == Pass::update ? Stage::update : Stage::backward;
}

Seconds& busy_of(Stages& stages, Stage stage) {
  return stage == Stage::forward ? stages.forward : stage == Stage::backward ? stages.backward : stages.weight_update;
}
Seconds& host_of(Stages& stages, Stage stage) {
  return stage == Stage::forward ? stages.host_forward : stage == Stage::backward ? stages.host_backward : stages.host_update;
}

/// Attributes an idle span of the compute stream to what the next kernel waited for.
void charge_gap(const LoweredStep& step, const engine::Timeline& timeline, std::size_t task, Seconds gap, Stages& stages) {
  const TaskId cause = timeline.held_by[task];
  if (cause.value >= 0 && step.tasks[index(cause)].work == Work::exchange) {
    stages.exchange_exposed += gap;
    return;
  }
  stages.host_exposed += gap;
  host_of(stages, stage_of(step.nodes[static_cast<std::size_t>(step.tasks[task].node)].pass)) += gap;
}

constexpr std::array<std::string_view, 5> kResources{"gpu_compute", "gpu_memory_bandwidth", "host", "intra_node_link", "network"};

std::size_t resource_of(const LoweredStep& step, const StepTask& task, bool crosses_network) {
  if (task.work == Work::host) return 2;
  if (task.work == Work::exchange) return crosses_network ? 4 : 3;
  return step.costs[static_cast<std::size_t>(task.node)].kernel.bound == Bound::memory ? 1 : 0;
}

void tell_limits(const LoweredStep& step, const engine::Timeline& timeline, Window window, StepTimes& result) {
  std::array<double, kResources.size()> time{}, launch{};
  double total = 0.0;
  bool network = false;
  for (std::size_t i = 0; i < step.graph.links(); ++i)
    network |= step.graph.link_name({static_cast<std::int32_t>(i)}) == "network";
  for (const TaskId id : engine::critical_path(timeline)) {
    const SimTime begin = std::max(timeline.start[index(id)], window.begin), end = std::min(timeline.end[index(id)], window.end);
    if (end <= begin) continue;
    const StepTask& task = step.tasks[index(id)];
    const double span = (end - begin).seconds().base();
    const std::size_t resource = resource_of(step, task, network);
    time[resource] += span;
    if (task.work == Work::kernel)
      launch[resource] += std::min(span, step.costs[static_cast<std::size_t>(task.node)].kernel.launch.base());
    total += span;
  }
  std::array<std::size_t, kResources.size()> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return time[a] > time[b]; });
  for (const std::size_t i : order) {
    if (time[i] <= 0.0) continue;
    result.limits.push_back({std::string(kResources[i]), time[i] / total, {}});
    result.launch_shares.push_back(launch[i] / time[i]);
  }
}

/// Iterations are alike, so each has its part of what a link carries.
void describe_links(const LoweredStep& step, const engine::Timeline& timeline, Prediction& prediction) {
  const double iterations = step.iterations;
  for (std::size_t i = 0; i < step.graph.links(); ++i) {
    const engine::LinkId id{static_cast<std::int32_t>(i)};
    const double capacity = step.graph.link_capacity(id).base(), bytes = timeline.link_bytes[i] / iterations;
    const double time = prediction.step_time.value.base();
    prediction.links.push_back({step.graph.link_name(id), BytesPerSecond(capacity), Bytes(bytes),
                                std::min(1.0, timeline.link_busy[i].seconds().base() / iterations / time),
                                std::min(1.0, bytes / capacity / time)});
  }
}

}  // namespace

StepTimes step_times(const LoweredStep& step, const engine::Timeline& timeline) {
  const Window window = last_iteration(step, timeline);
  StepTimes result;
  result.step = (window.end - window.begin).seconds();
  SimTime free = window.begin;
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    const StepTask& task = step.tasks[i];
    if (task.iteration + 1 != step.iterations) continue;
    const Seconds duration = (timeline.end[i] - timeline.start[i]).seconds();
    if (task.work == Work::host) result.host_busy += duration;
    if (task.work == Work::exchange) result.stages.exchange_total += duration;
    if (task.work != Work::kernel) continue;
    const NodeCost& cost = step.costs[static_cast<std::size_t>(task.node)];
    if (timeline.start[i] > free) charge_gap(step, timeline, i, (timeline.start[i] - free).seconds(), result.stages);
    free = timeline.end[i];
    busy_of(result.stages, stage_of(step.nodes[static_cast<std::size_t>(task.node)].pass)) += duration;
    result.busy += duration;
    (cost.tensor_core ? result.tensor_flop : result.flop) += cost.kernel.flop;
  }
  if (window.end > free) {
    const bool exchange = step.graph.links() > 0;
    (exchange ? result.stages.exchange_exposed : result.stages.host_exposed) += (window.end - free).seconds();
    if (!exchange) result.stages.host_update += (window.end - free).seconds();
  }
  tell_limits(step, timeline, window, result);
  return result;
}

void describe_step(const OpGraph& graph, const LoweredStep& step, const engine::Timeline& timeline, FlopPerSecond peak,
                   FlopPerSecond tensor_peak, Prediction& prediction) {
  prediction.layers.resize(graph.ops.size());
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    LayerTime& layer = prediction.layers[i];
    layer.name = op.name;
    layer.kind = info(op.kind).name;
    layer.shape = to_text(graph.output_shape(op));
    for (const ParameterId id : op.parameters) layer.parameters += elements(graph.parameter(id).shape);
  }
  describe_links(step, timeline, prediction);
  SimTime origin = last_iteration(step, timeline).begin;
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    const StepTask& task = step.tasks[i];
    if (task.iteration + 1 != step.iterations || task.work == Work::host) continue;
    if (task.work == Work::exchange) {
      prediction.exchanges.push_back({(timeline.start[i] - origin).seconds(), (timeline.end[i] - timeline.start[i]).seconds()});
      continue;
    }
    const StepNode& node = step.nodes[static_cast<std::size_t>(task.node)];
    const NodeCost& cost = step.costs[static_cast<std::size_t>(task.node)];
    const OpId op = node.pass == Pass::update ? graph.parameter(node.parameter).op : node.op;
    LayerTime& layer = prediction.layers[static_cast<std::size_t>(op.value)];
    const Seconds time = cost.kernel.time;
    layer.flop += cost.kernel.flop;
    if (node.pass == Pass::forward)
      layer.forward += time;
    else if (node.pass == Pass::update)
      layer.update += time;
    else if (node.pass == Pass::backward_weights)
      layer.backward_weights += time;
    else
      layer.backward_data += time;
    KernelTime kernel;
    kernel.layer = graph.op(op).name;
    kernel.pass = name(node.pass);
    kernel.algorithm = cost.algorithm ? name(*cost.algorithm) : cost.family;
    kernel.name = fmt::format("{} {}", info(graph.op(op).kind).name, kernel.pass);
    kernel.bound = cost.kernel.bound == Bound::compute ? "compute" : cost.kernel.bound == Bound::memory ? "memory" : "launch";
    kernel.time = time;
    kernel.start = (timeline.start[i] - origin).seconds();
    kernel.flop = cost.kernel.flop;
    kernel.bytes = cost.kernel.bytes;
    kernel.fp32_utilization = cost.kernel.flop / ((cost.tensor_core ? tensor_peak : peak) * time);
    prediction.kernels.push_back(std::move(kernel));
  }
}

}  // namespace tbdsim
