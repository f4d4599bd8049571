#pragma once
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "model/engine/task_graph.hpp"

namespace tbdsim::engine {

/// Size and shape of a random graph.
struct RandomGraphShape {
  int tasks = 300, streams = 6, links = 8;
  double flow_share = 0.4;  ///< of all tasks
  int longest_route = 4;
  std::int64_t coarseness = 1;   ///< durations are multiples of this; coarse ones tie often
  double bandwidth_scale = 1.0;  ///< on every link
};

/// The same seed and shape give the same graph. Some flows have no stream, no bytes, a rate limit or a weight.
class RandomGraph {
 public:
  RandomGraph(std::uint64_t seed, RandomGraphShape shape) : random_(seed), shape_(shape) {}

  TaskGraph build() {
    TaskGraph graph;
    for (int s = 0; s < shape_.streams; ++s) (void)graph.add_stream("stream");
    for (int l = 0; l < shape_.links; ++l) {
      (void)graph.add_link("link", BytesPerSecond(shape_.bandwidth_scale * static_cast<double>(1 + below(40)) * 1e9));
    }
    for (std::int32_t t = 0; t < shape_.tasks; ++t) add_task(graph, t);
    return graph;
  }

 private:
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(double p) { return static_cast<double>(below(1000)) < 1000.0 * p; }

  void add_task(TaskGraph& graph, std::int32_t t) {
    std::vector<TaskId> after;
    for (std::int64_t d = std::min<std::int64_t>(t, below(4)); d > 0; --d) {
      after.push_back({t - 1 - static_cast<std::int32_t>(below(std::min(t, 40)))});
    }
    const StreamId stream{static_cast<std::int32_t>(below(shape_.streams))};
    const SimTime duration{below(200'000) / shape_.coarseness * shape_.coarseness};
    if (!chance(shape_.flow_share)) {
      (void)graph.add_task(stream, duration, after);
      return;
    }
    const double bytes = chance(0.05) ? 0.0 : static_cast<double>(1 + below(5000) / shape_.coarseness * shape_.coarseness);
    std::vector<LinkUse> route;
    for (std::int64_t hops = 1 + below(shape_.longest_route); hops > 0; --hops) {
      route.push_back({{static_cast<std::int32_t>(below(shape_.links))}, chance(0.3) ? 1.75 : 1.0});
    }
    const BytesPerSecond max_rate(chance(0.2) ? static_cast<double>(1 + below(20)) * 1e9 : 0.0);
    (void)graph.add_flow(chance(0.3) ? StreamId{} : stream, Bytes(bytes), duration, route, after, -1, max_rate);
  }

  std::mt19937_64 random_;
  RandomGraphShape shape_;
};

/// Shapes that stress different parts: few and many links, ties, flows only, no flows.
inline std::vector<RandomGraphShape> random_graph_shapes() {
  return {{},
          {.tasks = 60, .streams = 2, .links = 1},
          {.tasks = 400, .streams = 40, .links = 3, .flow_share = 0.8, .longest_route = 2},
          {.tasks = 400, .streams = 5, .links = 10, .flow_share = 0.5, .longest_route = 6, .coarseness = 50'000},
          {.tasks = 250, .streams = 250, .links = 30, .flow_share = 1.0, .longest_route = 3, .coarseness = 1000},
          {.tasks = 300, .streams = 4, .links = 1, .flow_share = 0.0}};
}

}  // namespace tbdsim::engine
