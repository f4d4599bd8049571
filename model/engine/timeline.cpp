#include "model/engine/timeline.hpp"

#include <algorithm>

namespace tbdsim::engine {

namespace {

std::size_t at(TaskId id) { return static_cast<std::size_t>(id.value); }

struct Interval {
  SimTime start, end;
};

std::vector<Interval> by_start(const Timeline& timeline, std::span<const TaskId> tasks) {
  std::vector<Interval> result;
  result.reserve(tasks.size());
  for (const TaskId task : tasks) result.push_back({timeline.start[at(task)], timeline.end[at(task)]});
  std::ranges::sort(result, {}, &Interval::start);
  return result;
}

/// Disjoint intervals in order that cover the same time.
std::vector<Interval> merged(const std::vector<Interval>& intervals) {
  std::vector<Interval> result;
  for (const Interval& interval : intervals) {
    if (!result.empty() && interval.start <= result.back().end) {
      result.back().end = std::max(result.back().end, interval.end);
    } else {
      result.push_back(interval);
    }
  }
  return result;
}

SimTime total(std::span<const Interval> disjoint) {
  SimTime sum;
  for (const Interval& interval : disjoint) sum += interval.end - interval.start;
  return sum;
}

}  // namespace

std::vector<TaskId> critical_path(const Timeline& timeline) {
  const auto last = std::max_element(timeline.end.rbegin(), timeline.end.rend());
  if (last == timeline.end.rend()) return {};
  return critical_path(timeline, {static_cast<std::int32_t>(timeline.end.rend() - last - 1)});
}

std::vector<TaskId> critical_path(const Timeline& timeline, TaskId last) {
  std::vector<TaskId> path;
  for (TaskId task = last; task.value >= 0; task = timeline.held_by[at(task)]) path.push_back(task);
  std::ranges::reverse(path);
  return path;
}

std::vector<SimTime> slack(const TaskGraph& graph, const Timeline& timeline) {
  std::vector<SimTime> latest_end(graph.tasks(), timeline.makespan);
  std::vector<std::int32_t> next_on_stream(graph.streams(), -1);
  const auto limit = [&](TaskId earlier, SimTime end) { latest_end[at(earlier)] = std::min(latest_end[at(earlier)], end); };
  // Successors always come after a task, so one pass from the back sees each task after all of them.
  for (std::int32_t t = static_cast<std::int32_t>(graph.tasks()) - 1; t >= 0; --t) {
    const auto start_of = [&](std::int32_t task) {
      return latest_end[at({task})] - (timeline.end[at({task})] - timeline.start[at({task})]);
    };
    if (const StreamId stream = graph.stream_of({t}); stream.value >= 0 && !graph.is_queue(stream)) {
      std::int32_t& next = next_on_stream[static_cast<std::size_t>(stream.value)];
      if (next >= 0) limit({t}, start_of(next));
      next = t;
    }
    for (const TaskId earlier : graph.dependencies({t})) limit(earlier, start_of(t));
  }
  for (std::size_t t = 0; t < graph.tasks(); ++t) latest_end[t] = latest_end[t] - timeline.end[t];
  return latest_end;
}

SimTime covered_time(const Timeline& timeline, std::span<const TaskId> tasks) { return total(merged(by_start(timeline, tasks))); }

}  // namespace tbdsim::engine
