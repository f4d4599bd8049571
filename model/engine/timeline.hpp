#pragma once
#include <span>
#include <vector>

#include "model/engine/task_graph.hpp"

namespace tbdsim::engine {

/// When every task ran, and what held it back.
struct Timeline {
  std::vector<SimTime> start, end;  ///< per task
  /// Per task: the task whose end let it start last (dependency or stream predecessor); -1 for a task that
  /// waited for none and started at time zero. Following it from the last task back gives the critical path without gaps.
  std::vector<TaskId> held_by;
  std::vector<double> link_bytes;  ///< per link, bytes carried
  std::vector<SimTime> link_busy;  ///< per link, time with at least one flow moving on it
  SimTime makespan;
};

/// Runs the graph. Pure: the same graph gives the same bytes on any machine and thread count. Events at equal
/// times are handled in insertion order. Cost O((tasks + dependencies) log active); no allocation per event.
[[nodiscard]] Timeline simulate(const TaskGraph& graph);

/// The links that a flow moves over, each with its weight; none of other tasks.
[[nodiscard]] std::span<const LinkUse> route_of(const TaskGraph& graph, TaskId id);

/// Tasks of the critical path, first to last: from the task that ends last (of several, the one added last) back
/// along `held_by`. Each starts at the instant its predecessor ends, so their durations add up to the makespan.
[[nodiscard]] std::vector<TaskId> critical_path(const Timeline& timeline);
/// The same back from `last`: what let it end no earlier.
[[nodiscard]] std::vector<TaskId> critical_path(const Timeline& timeline, TaskId last);

/// Per task, by how much it could end later without a later makespan, with the order on every stream kept; a queue
/// counts as if it could run any number at once. Flows keep the durations they had: a delayed flow may in truth share
/// its links with others.
[[nodiscard]] std::vector<SimTime> slack(const TaskGraph& graph, const Timeline& timeline);

/// Time during which at least one of `tasks` runs.
[[nodiscard]] SimTime covered_time(const Timeline& timeline, std::span<const TaskId> tasks);

}  // namespace tbdsim::engine
