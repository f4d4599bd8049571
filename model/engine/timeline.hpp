#pragma once
#include <vector>

#include "model/engine/task_graph.hpp"

namespace tbdsim::engine {

/// When every task ran, and what held it back.
struct Timeline {
  std::vector<SimTime> start, end;  ///< per task
  /// Per task: the task whose end let it start last (dependency or stream predecessor); -1 for a task that
  /// started at time zero. Following it from the last task back gives the critical path without gaps.
  std::vector<TaskId> held_by;
  std::vector<double> link_bytes;    ///< per link, bytes carried
  std::vector<SimTime> link_busy;    ///< per link, time with at least one flow moving on it
  SimTime makespan;
};

/// Runs the graph. Pure: the same graph gives the same bytes on any machine and thread count. Events at equal
/// times are handled in insertion order. Cost O((tasks + dependencies) log active); no allocation per event.
[[nodiscard]] Timeline simulate(const TaskGraph& graph);

/// Tasks of the critical path, first to last.
[[nodiscard]] std::vector<TaskId> critical_path(const Timeline& timeline);

}  // namespace tbdsim::engine
