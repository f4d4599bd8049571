#include "model/prediction/step_times.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <numeric>

#include "model/prediction/host_work.hpp"
#include "model/prediction/kernel_character.hpp"

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

Seconds& busy_of(PhaseTimes& phases, Phase phase) {
  return phase == Phase::forward ? phases.forward : phase == Phase::backward ? phases.backward : phases.weight_update;
}
Seconds& host_of(PhaseTimes& phases, Phase phase) {
  return phase == Phase::forward ? phases.host_forward : phase == Phase::backward ? phases.host_backward : phases.host_update;
}

/// When stores update weights, in all iterations: spans in order that do not touch.
class StoreUpdates {
 public:
  StoreUpdates(const LoweredStep& step, const engine::Timeline& timeline) {
    for (std::size_t i = 0; i < step.tasks.size(); ++i) {
      const double part = step.tasks[i].updating;
      if (part <= 0.0) continue;
      const Seconds time = (timeline.end[i] - timeline.start[i]).seconds();
      const SimTime begin = timeline.end[i] - SimTime::from(std::min(1.0, part) * time);
      spans_.push_back({begin, timeline.end[i]});
      if (step.tasks[i].iteration + 1 == step.iterations) total_ += part * time;
    }
    std::sort(spans_.begin(), spans_.end());
    std::size_t last = 0;
    for (std::size_t i = 1; i < spans_.size(); ++i) {
      if (spans_[i].first <= spans_[last].second)
        spans_[last].second = std::max(spans_[last].second, spans_[i].second);
      else
        spans_[++last] = spans_[i];
    }
    if (!spans_.empty()) spans_.resize(last + 1);
  }

  /// Of all arrays in an iteration, one after the other.
  [[nodiscard]] Seconds total() const { return total_; }

  /// For how long one of them runs between two instants.
  [[nodiscard]] Seconds within(SimTime begin, SimTime end) const {
    Seconds sum(0.0);
    auto span = std::lower_bound(spans_.begin(), spans_.end(), begin, [](const auto& s, SimTime t) { return s.second < t; });
    for (; span != spans_.end() && span->first < end; ++span)
      sum += (std::min(end, span->second) - std::max(begin, span->first)).seconds();
    return sum;
  }

 private:
  std::vector<std::pair<SimTime, SimTime>> spans_;
  Seconds total_{0.0};
};

/// A forward pass among backward nodes computes again what was not kept, in backward's time: busy, but of no use.
bool computed_again(const LoweredStep& step, std::int32_t node) {
  const auto place = static_cast<std::size_t>(node);
  return step.nodes[place].pass == Pass::forward && place >= step.forward_nodes;
}

Phase phase_of(const LoweredStep& step, std::int32_t node) {
  return computed_again(step, node) ? Phase::backward : info(step.nodes[static_cast<std::size_t>(node)].pass).phase;
}

/// A wait for the exchange that ends before a node of `phase`: what a store updates meanwhile is the update of weights.
void charge_exchange(const LoweredStep& step, const StoreUpdates& updates, Phase phase, SimTime begin, SimTime end,
                     PhaseTimes& phases) {
  const Seconds wait = (end - begin).seconds(), updating = std::min(wait, updates.within(begin, end));
  phases.weight_update += updating;
  phases.store_update += updating;
  phases.exchange_exposed += wait - updating;
  if (!step.in_passes) return;
  (phase == Phase::forward ? phases.exchange_forward : phases.exchange_backward) += wait - updating;
}

/// Attributes an idle span of the compute stream, from `free` until `task` starts, to what the next kernel waited for.
void charge_gap(const LoweredStep& step, const engine::Timeline& timeline, const StoreUpdates& updates, std::size_t task,
                SimTime free, PhaseTimes& phases) {
  const TaskId cause = timeline.held_by[task];
  const Seconds gap = (timeline.start[task] - free).seconds();
  if (cause.value >= 0 && step.tasks[index(cause)].work == Work::exchange) {
    charge_exchange(step, updates, phase_of(step, step.tasks[task].node), free, timeline.start[task], phases);
    return;
  }
  phases.host_exposed += gap;
  host_of(phases, phase_of(step, step.tasks[task].node)) += gap;
}

/// After the last kernel of the step.
void charge_end(const LoweredStep& step, const StoreUpdates& updates, SimTime free, SimTime end, PhaseTimes& phases) {
  const Seconds rest = (end - free).seconds();
  if (step.graph.links() > 0) {
    charge_exchange(step, updates, Phase::backward, free, end, phases);
  } else {
    phases.host_exposed += rest;
    phases.host_update += rest;
  }
}

/// What an exchange takes; `over_network`: it crosses one.
Resource exchange_resource(bool over_network) { return over_network ? Resource::network : Resource::intra_node_link; }

Resource resource_of(const LoweredStep& step, const StepTask& task, bool over_network) {
  if (task.work == Work::host || task.leg == Leg::serve) return Resource::host;
  if (task.leg == Leg::merge || task.work == Work::metric) return Resource::gpu_memory_bandwidth;
  if (task.work == Work::exchange) return exchange_resource(over_network);
  const Bound bound = step.costs[static_cast<std::size_t>(task.node)].kernel.bound;
  return bound == Bound::memory ? Resource::gpu_memory_bandwidth : Resource::gpu_compute;
}

void tell_limits(const LoweredStep& step, const engine::Timeline& timeline, Window window, StepTimes& result) {
  std::array<double, kTaskResources> time{}, launch{};
  double total = 0.0;
  bool network = false;
  for (std::size_t i = 0; i < step.graph.links(); ++i)
    network |= step.graph.link_name({static_cast<std::int32_t>(i)}) == "network";
  for (const TaskId id : engine::critical_path(timeline, window.last)) {
    const SimTime begin = std::max(timeline.start[index(id)], window.begin), end = std::min(timeline.end[index(id)], window.end);
    if (end <= begin) continue;
    const StepTask& task = step.tasks[index(id)];
    const double span = (end - begin).seconds().base();
    const auto resource = static_cast<std::size_t>(resource_of(step, task, network));
    // What an exchange adds to the kernels beside it is the exchange's, as in `exchange_in_backward`.
    const double waiting = step.in_passes ? 0.0 : task.stretched * span;
    time[resource] += span - waiting;
    time[static_cast<std::size_t>(exchange_resource(network))] += waiting;
    if (task.work == Work::kernel)
      launch[resource] += std::min(span, step.costs[static_cast<std::size_t>(task.node)].kernel.launch.base());
    total += span;
  }
  std::array<std::size_t, kTaskResources> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return time[a] > time[b]; });
  for (const std::size_t i : order) {
    if (time[i] <= 0.0) continue;
    result.limits.push_back({resources()[i].kind, time[i] / total, {}});
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
    prediction.detail.links.push_back({step.graph.link_name(id), BytesPerSecond(capacity), Bytes(bytes),
                                       std::min(1.0, timeline.link_busy[i].seconds().base() / iterations / time),
                                       std::min(1.0, bytes / capacity / time)});
  }
}

}  // namespace

// Long because one pass over the tasks fills every sum.
StepTimes step_times(const LoweredStep& step, const engine::Timeline& timeline) {
  const Window window = last_iteration(step, timeline);
  StepTimes result;
  result.rank = window.rank;
  result.step = (window.end - window.begin).seconds();
  SimTime free = window.begin;
  std::vector<TaskId> exchanges;
  const StoreUpdates updates(step, timeline);
  Seconds busy_update(0.0);
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    const StepTask& task = step.tasks[i];
    if (task.iteration + 1 != step.iterations) continue;
    const Seconds duration = (timeline.end[i] - timeline.start[i]).seconds();
    if (task.work == Work::host) result.host_busy += duration;
    if (task.work == Work::exchange) exchanges.push_back({static_cast<std::int32_t>(i)});
    if (task.leg == Leg::serve) result.serving += duration;
    if (task.work != Work::kernel && task.work != Work::metric) continue;
    if (task.rank == window.rank) {
      if (timeline.start[i] > free) charge_gap(step, timeline, updates, i, free, result.phases);
      free = timeline.end[i];
      result.busy += duration;
    }
    if (task.work == Work::metric) {
      result.mean_busy += duration;
      if (task.rank == window.rank) result.phases.metric += duration;
      continue;
    }
    const NodeCost& cost = step.costs[static_cast<std::size_t>(task.node)];
    const Pass pass = step.nodes[static_cast<std::size_t>(task.node)].pass;
    result.mean_busy += duration;
    const bool again = computed_again(step, task.node);
    const double share = 1.0 / cost.pieces;  // of the node's work in this task
    (cost.tensor_core ? result.tensor_flop : result.flop) += share * cost.kernel.flop;
    (cost.tensor_core ? result.tensor_executing : result.executing) += share * cost.kernel.executing;
    if (!again) result.useful_flop += share * cost.kernel.flop;
    if (task.rank != window.rank) continue;
    busy_of(result.phases, phase_of(step, task.node)) += duration;
    if (pass == Pass::update) busy_update += duration;
    // Where calls hold the exchange nothing runs beside it: kernels are longer for what one GPU computes for all.
    if (phase_of(step, task.node) == Phase::backward && !step.in_passes)
      result.phases.exchange_in_backward += task.stretched * duration;
  }
  const double mean = 1.0 / step.ranks;
  result.host_busy = mean * result.host_busy;
  result.mean_busy = mean * result.mean_busy;
  result.flop = mean * result.flop;
  result.tensor_flop = mean * result.tensor_flop;
  result.executing = mean * result.executing;
  result.tensor_executing = mean * result.tensor_executing;
  result.useful_flop = mean * result.useful_flop;
  if (window.end > free) charge_end(step, updates, free, window.end, result.phases);
  // What a store updates while all wait is told as the update of weights, not once more as exchange.
  result.phases.exchange_total =
      std::max(result.phases.exchange_exposed, engine::covered_time(timeline, exchanges).seconds() - result.phases.store_update);
  result.phases.weight_update_total = busy_update + updates.total();
  tell_limits(step, timeline, window, result);
  for (std::size_t i = 0; i < step.graph.links(); ++i) {
    const engine::LinkId id{static_cast<std::int32_t>(i)};
    if (step.graph.link_name(id).rfind("network", 0) != 0) continue;
    result.network = std::max(result.network, Bytes(timeline.link_bytes[i] / step.iterations) / step.graph.link_capacity(id));
  }
  return result;
}

// Long because all tables of a step's details are filled here.
void describe_step(const OpGraph& graph, const LoweredStep& step, const engine::Timeline& timeline, const Device& device,
                   FlopPerSecond tensor_peak, Prediction& prediction) {
  prediction.detail.layers.resize(graph.ops.size());
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    LayerTime& layer = prediction.detail.layers[i];
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
    if (task.iteration + 1 != step.iterations) continue;
    if (task.work == Work::host || task.work == Work::metric || task.leg == Leg::serve)
      add_host_work(graph, step, timeline, i, {origin, window.rank}, prediction);
    if (task.work == Work::host || task.work == Work::metric) continue;
    if (task.work == Work::exchange) {
      add_link_work(step, timeline, i, {origin, window.rank}, prediction);
      prediction.detail.exchanges.push_back(
          {(timeline.start[i] - origin).seconds(), (timeline.end[i] - timeline.start[i]).seconds()});
      continue;
    }
    if (task.rank != window.rank) {
      add_rank_kernel(graph, step, timeline, i, {origin, window.rank}, prediction);
      continue;
    }
    const StepNode& node = step.nodes[static_cast<std::size_t>(task.node)];
    const NodeCost& cost = step.costs[static_cast<std::size_t>(task.node)];
    const OpId op = node.pass == Pass::update ? graph.parameter(node.parameter).op : node.op;
    LayerTime& layer = prediction.detail.layers[static_cast<std::size_t>(op.value)];
    layer.tensor_core |= cost.tensor_core;
    const Seconds time = (timeline.end[i] - timeline.start[i]).seconds();  // as long as what is exchanged beside it makes it
    const double share = 1.0 / cost.pieces;                                // of the node's work in this task
    layer.flop += share * cost.kernel.flop;
    if (node.pass == Pass::forward && !computed_again(step, task.node))
      layer.forward += time;
    else if (node.pass == Pass::update)
      layer.update += time;
    else if (node.pass == Pass::backward_weights)
      layer.backward_weights += time;
    else
      layer.backward_data += time;
    KernelTime kernel;
    kernel.layer = graph.op(op).name;
    kernel.pass = node.pass;
    kernel.algorithm = cost.algorithm ? name(*cost.algorithm) : cost.family ? name(*cost.family) : "none";
    kernel.name = fmt::format("{} {}", info(graph.op(op).kind).name, name(node.pass));
    kernel.bound = cost.kernel.bound == Bound::compute ? "compute" : cost.kernel.bound == Bound::memory ? "memory" : "launch";
    kernel.time = time;
    kernel.start = (timeline.start[i] - origin).seconds();
    kernel.flop = share * cost.kernel.flop;
    kernel.bytes = share * cost.kernel.bytes;
    kernel.fp32_utilization = share * cost.kernel.executing / time;
    kernel.useful_utilization = kernel.flop / ((cost.tensor_core ? tensor_peak : device.peak.fp32) * time);
    const KernelCharacter character = characterize(graph, node, cost, prediction.job.batch_per_gpu, device);
    kernel.occupancy = character.occupancy;
    kernel.stalls = character.stalls;
    kernel.stall = name(largest_stall(character.stalls));
    prediction.detail.kernels.push_back(std::move(kernel));
  }
}

}  // namespace tbdsim
