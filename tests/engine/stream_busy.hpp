#pragma once
#include "model/engine/timeline.hpp"

namespace tbdsim::engine {

/// Per stream, time with a task on it. A task that starts is on its stream until it ends, latency included.
[[nodiscard]] inline std::vector<SimTime> stream_busy(const TaskGraph& graph, const Timeline& timeline) {
  std::vector<SimTime> busy(graph.streams());
  for (std::size_t t = 0; t < graph.tasks(); ++t) {
    const StreamId stream = graph.stream_of({static_cast<std::int32_t>(t)});
    if (stream.value >= 0) busy[static_cast<std::size_t>(stream.value)] += timeline.end[t] - timeline.start[t];
  }
  return busy;
}

}  // namespace tbdsim::engine
