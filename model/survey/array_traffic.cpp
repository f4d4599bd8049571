#include "model/survey/array_traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tbdsim {
namespace {

struct Span {
  SimTime start, end;
  bool set = false;
  void cover(SimTime from, SimTime to) {
    start = set ? std::min(start, from) : from;
    end = set ? std::max(end, to) : to;
    set = true;
  }
};

/// One array of the profiled iteration.
struct Way {
  Span send, receive;
  Bytes bytes;
  SimTime exposed;
  bool bucket = false;
};

void add(const LoweredStep& step, const engine::Timeline& timeline, std::size_t task, Way& way) {
  const Leg leg = step.tasks[task].leg;
  const SimTime start = timeline.start[task], end = timeline.end[task];
  way.bucket |= leg == Leg::whole;
  if (leg == Leg::whole || leg == Leg::push) way.send.cover(start, end);
  if (leg == Leg::whole || leg == Leg::reply || leg == Leg::scatter) way.receive.cover(start, end);
  if (leg == Leg::whole) way.bytes += step.graph.bytes({static_cast<std::int32_t>(task)});
}

/// Charges a wait from `free` until `cause` ended to the arrays whose turn it was meanwhile: what the wait ended with, before
/// it what that itself had to wait for, and so on. A small array behind a large one is not to blame.
void charge_wait(const LoweredStep& step, const engine::Timeline& timeline, SimTime free, engine::TaskId cause,
                 std::map<std::int32_t, Way>& ways) {
  SimTime until = timeline.end[static_cast<std::size_t>(cause.value)];
  while (cause.value >= 0 && until > free) {
    const auto task = static_cast<std::size_t>(cause.value);
    const SimTime from = std::max(free, timeline.start[task]);
    const auto way = ways.find(step.tasks[task].item);
    if (way != ways.end() && until > from) way->second.exposed += until - from;
    until = std::min(until, from);
    cause = timeline.held_by[task];
  }
}

/// Charges every wait of the compute stream.
void charge_waits(const LoweredStep& step, const engine::Timeline& timeline, std::int32_t iteration,
                  std::map<std::int32_t, Way>& ways) {
  SimTime free{0};
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    if (step.tasks[i].work != Work::kernel || step.tasks[i].rank != 0) continue;
    const engine::TaskId cause = timeline.held_by[i];
    if (cause.value >= 0 && timeline.start[i] > free) {
      const StepTask& holder = step.tasks[static_cast<std::size_t>(cause.value)];
      const auto way = ways.find(holder.item);
      if (holder.work == Work::exchange && holder.iteration == iteration && way != ways.end())
        charge_wait(step, timeline, free, cause, ways);
    }
    free = std::max(free, timeline.end[i]);
  }
}

SimTime backward_start(const LoweredStep& step, const engine::Timeline& timeline, std::int32_t iteration) {
  Span backward;
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    const StepTask& task = step.tasks[i];
    if (task.work != Work::kernel || task.iteration != iteration) continue;
    const Pass pass = step.nodes[static_cast<std::size_t>(task.node)].pass;
    if (pass != Pass::forward && pass != Pass::update) backward.cover(timeline.start[i], timeline.end[i]);
  }
  return backward.start;
}

}  // namespace

std::vector<ArrayTraffic> array_traffic(const OpGraph& graph, const LoweredStep& step, const engine::Timeline& timeline) {
  // What reaches into the next iteration is profiled where that iteration is still there to wait for it.
  const std::int32_t iteration = step.iterations - (step.carries_over && step.iterations > 1 ? 2 : 1);
  std::map<std::int32_t, Way> ways;
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    const StepTask& task = step.tasks[i];
    if (task.work == Work::exchange && task.iteration == iteration && task.item >= 0) add(step, timeline, i, ways[task.item]);
  }
  charge_waits(step, timeline, iteration, ways);
  const SimTime origin = backward_start(step, timeline, iteration);
  std::vector<ArrayTraffic> result;
  for (const auto& [item, way] : ways) {
    if (!way.send.set || !way.receive.set) continue;
    ArrayTraffic array;
    if (way.bucket) {
      array.name = fmt::format("bucket {}", item);
      array.bytes = way.bytes;
    } else {
      const Parameter& parameter = graph.parameter({item});
      array.name = parameter.name;
      array.bytes = static_cast<double>(elements(parameter.shape)) * step.gradient_element;
    }
    array.send_start = (way.send.start - origin).seconds();
    array.send_end = (way.send.end - origin).seconds();
    array.receive_start = way.bucket ? array.send_start : array.send_end;
    array.receive_end = (way.receive.end - origin).seconds();
    array.exposed = way.exposed.seconds();
    result.push_back(std::move(array));
  }
  std::stable_sort(result.begin(), result.end(), [](const ArrayTraffic& a, const ArrayTraffic& b) {
    if (a.exposed != b.exposed) return a.exposed > b.exposed;
    return a.receive_end - a.send_start > b.receive_end - b.send_start;
  });
  return result;
}

}  // namespace tbdsim
