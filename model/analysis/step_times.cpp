#include "model/analysis/step_times.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <numeric>

#include "model/analysis/kernel_character.hpp"

namespace tbdsim {
namespace {

using engine::TaskId;

std::size_t index(TaskId id) { return static_cast<std::size_t>(id.value); }

/// The steady iteration of the rank that finishes it last.
struct Window {
  SimTime begin, end;
  std::int32_t rank = 0;
  TaskId last;  ///< the task that ends it
};

/// The rank whose last kernel ends last; of several the first.
std::int32_t slowest_rank(const LoweredStep& step, const engine::Timeline& timeline) {
  std::vector<SimTime> end(static_cast<std::size_t>(step.ranks));
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    if (step.tasks[i].work != Work::kernel) continue;
    SimTime& of_rank = end[static_cast<std::size_t>(step.tasks[i].rank)];
    of_rank = std::max(of_rank, timeline.end[i]);
  }
  return static_cast<std::int32_t>(std::max_element(end.begin(), end.end()) - end.begin());
}

/// From the end of the last but one iteration to the end of the last.
Window last_iteration(const LoweredStep& step, const engine::Timeline& timeline) {
  Window window;
  window.rank = slowest_rank(step, timeline);
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    const StepTask& task = step.tasks[i];
    // The host may already work on the next iteration: only what the device does ends an iteration, unless it has
    // nothing to do. Where the exchange reaches into the next iteration, only kernels end one.
    const bool ends = step.carries_over ? task.work == Work::kernel && task.rank == window.rank
                                        : task.work != Work::host || step.iterations == 1;
    if (!ends) continue;
    const bool steady = task.iteration + 1 == step.iterations;
    SimTime& edge = steady ? window.end : window.begin;
    if (steady && timeline.end[i] >= edge) window.last = {static_cast<std::int32_t>(i)};
    edge = std::max(edge, timeline.end[i]);
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

/// Attributes an idle span of the compute stream, from `free` until `task` starts, to what the next kernel waited for.
void charge_gap(const LoweredStep& step, const engine::Timeline& timeline, std::size_t task, SimTime free, Stages& stages) {
  const TaskId cause = timeline.held_by[task];
  const Seconds gap = (timeline.start[task] - free).seconds();
  if (cause.value >= 0 && step.tasks[index(cause)].work == Work::exchange) {
    // Before the copy that ends the wait could start, another stage had to compute.
    const SimTime copy = step.pipelined ? std::max(free, timeline.start[index(cause)]) : free;
    stages.exchange_exposed += (timeline.start[task] - copy).seconds();
    stages.bubble += (copy - free).seconds();
    return;
  }
  stages.host_exposed += gap;
  host_of(stages, stage_of(step.nodes[static_cast<std::size_t>(step.tasks[task].node)].pass)) += gap;
}

constexpr std::array<std::string_view, 5> kResources{"gpu_compute", "gpu_memory_bandwidth", "host", "intra_node_link", "network"};

/// `over_network`: what an exchange does crosses it, unless its stages tell which of their copies do.
std::size_t resource_of(const LoweredStep& step, const StepTask& task, bool over_network) {
  if (task.work == Work::host || task.leg == Leg::serve) return 2;
  if (task.leg == Leg::merge) return 1;
  if (task.work == Work::exchange) return (step.pipelined ? task.leg == Leg::push : over_network) ? 4 : 3;
  return step.costs[static_cast<std::size_t>(task.node)].kernel.bound == Bound::memory ? 1 : 0;
}

void tell_limits(const LoweredStep& step, const engine::Timeline& timeline, Window window, StepTimes& result) {
  std::array<double, kResources.size()> time{}, launch{};
  double total = 0.0;
  bool network = false;
  for (std::size_t i = 0; i < step.graph.links(); ++i)
    network |= step.graph.link_name({static_cast<std::int32_t>(i)}) == "network";
  for (const TaskId id : engine::critical_path(timeline, window.last)) {
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
  result.rank = window.rank;
  result.step = (window.end - window.begin).seconds();
  SimTime free = window.begin;
  std::vector<TaskId> exchanges;
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    const StepTask& task = step.tasks[i];
    if (task.iteration + 1 != step.iterations) continue;
    const Seconds duration = (timeline.end[i] - timeline.start[i]).seconds();
    if (task.work == Work::host) result.host_busy += duration;
    if (task.work == Work::exchange) exchanges.push_back({static_cast<std::int32_t>(i)});
    if (task.leg == Leg::serve) result.serving += duration;
    if (task.work != Work::kernel) continue;
    const NodeCost& cost = step.costs[static_cast<std::size_t>(task.node)];
    const Pass pass = step.nodes[static_cast<std::size_t>(task.node)].pass;
    result.mean_busy += duration;
    // A forward pass among backward nodes computes again what was not kept: busy, but of no use.
    const bool again = pass == Pass::forward && static_cast<std::size_t>(task.node) >= step.forward_nodes;
    const double share = 1.0 / cost.pieces;  // of the node's work in this task
    (cost.tensor_core ? result.tensor_flop : result.flop) += share * cost.kernel.flop;
    (cost.tensor_core ? result.tensor_executing : result.executing) += share * cost.kernel.executing;
    if (!again) result.useful_flop += share * cost.kernel.flop;
    if (task.rank != window.rank) continue;
    if (timeline.start[i] > free) charge_gap(step, timeline, i, free, result.stages);
    free = timeline.end[i];
    busy_of(result.stages, stage_of(pass)) += duration;
    result.busy += duration;
  }
  const double mean = 1.0 / step.ranks;
  result.host_busy = mean * result.host_busy;
  result.mean_busy = mean * result.mean_busy;
  result.flop = mean * result.flop;
  result.tensor_flop = mean * result.tensor_flop;
  result.executing = mean * result.executing;
  result.tensor_executing = mean * result.tensor_executing;
  result.useful_flop = mean * result.useful_flop;
  result.stages.exchange_total = engine::covered_time(timeline, exchanges).seconds();
  if (window.end > free) {
    const bool exchange = step.graph.links() > 0;
    (step.pipelined ? result.stages.bubble
     : exchange     ? result.stages.exchange_exposed
                    : result.stages.host_exposed) += (window.end - free).seconds();
    if (!exchange) result.stages.host_update += (window.end - free).seconds();
  }
  tell_limits(step, timeline, window, result);
  return result;
}

void describe_step(const OpGraph& graph, const LoweredStep& step, const engine::Timeline& timeline, const Device& device,
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
  const Window window = last_iteration(step, timeline);
  const SimTime origin = window.begin;
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    const StepTask& task = step.tasks[i];
    if (task.iteration + 1 != step.iterations || task.work == Work::host) continue;
    if (task.work == Work::exchange) {
      prediction.exchanges.push_back({(timeline.start[i] - origin).seconds(), (timeline.end[i] - timeline.start[i]).seconds()});
      continue;
    }
    if (task.rank != window.rank) continue;
    const StepNode& node = step.nodes[static_cast<std::size_t>(task.node)];
    const NodeCost& cost = step.costs[static_cast<std::size_t>(task.node)];
    const OpId op = node.pass == Pass::update ? graph.parameter(node.parameter).op : node.op;
    LayerTime& layer = prediction.layers[static_cast<std::size_t>(op.value)];
    const Seconds time = (timeline.end[i] - timeline.start[i]).seconds();  // as long as what is exchanged beside it makes it
    const double share = 1.0 / cost.pieces;                                // of the node's work in this task
    layer.flop += share * cost.kernel.flop;
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
    kernel.flop = share * cost.kernel.flop;
    kernel.bytes = share * cost.kernel.bytes;
    kernel.fp32_utilization = share * cost.kernel.executing / time;
    kernel.useful_utilization = kernel.flop / ((cost.tensor_core ? tensor_peak : device.peak.fp32) * time);
    const KernelCharacter character = characterize(graph, node, cost, prediction.batch_per_gpu, device);
    kernel.occupancy = character.occupancy;
    kernel.stalls = character.stalls;
    kernel.stall = name(largest_stall(character.stalls));
    prediction.kernels.push_back(std::move(kernel));
  }
}

}  // namespace tbdsim
