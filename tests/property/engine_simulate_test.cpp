// What must hold for every graph, tried on random ones with fixed seeds.
#include <cstring>
#include <random>
#include <vector>

#include "model/engine/timeline.hpp"
#include "tests/catch.hpp"
#include "tests/engine/stream_busy.hpp"
#include "tests/property/engine_random_graph.hpp"

using namespace tbdsim;
using namespace tbdsim::engine;

namespace {

constexpr int kSeeds = 40;

/// Calls check(graph, timeline) for every shape and seed.
template <class Check>
void on_random_graphs(Check check) {
  const std::vector<RandomGraphShape> shapes = random_graph_shapes();
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      INFO("shape " << s << ", seed " << seed);
      const TaskGraph graph = RandomGraph(seed, shapes[s]).build();
      check(graph, simulate(graph));
    }
  }
}

std::size_t at(TaskId id) { return static_cast<std::size_t>(id.value); }
std::int32_t count(const TaskGraph& graph) { return static_cast<std::int32_t>(graph.tasks()); }

/// Longest chain of dependencies and stream neighbours when every task takes what it took.
SimTime longest_chain(const TaskGraph& graph, const Timeline& timeline) {
  std::vector<SimTime> end(graph.tasks()), stream_end(graph.streams());
  SimTime longest;
  for (std::int32_t t = 0; t < count(graph); ++t) {
    SimTime start;
    for (const TaskId earlier : graph.dependencies({t})) start = std::max(start, end[at(earlier)]);
    const StreamId stream = graph.stream_of({t});
    if (stream.value >= 0) start = std::max(start, stream_end[static_cast<std::size_t>(stream.value)]);
    end[at({t})] = start + (timeline.end[at({t})] - timeline.start[at({t})]);
    if (stream.value >= 0) stream_end[static_cast<std::size_t>(stream.value)] = end[at({t})];
    longest = std::max(longest, end[at({t})]);
  }
  return longest;
}

}  // namespace

TEST_CASE("engine: every task starts exactly when the last thing it waits for ends") {
  on_random_graphs([](const TaskGraph& graph, const Timeline& timeline) {
    std::vector<SimTime> stream_end(graph.streams());
    bool exact = true;
    for (std::int32_t t = 0; t < count(graph); ++t) {
      SimTime ready;
      for (const TaskId earlier : graph.dependencies({t})) ready = std::max(ready, timeline.end[at(earlier)]);
      const StreamId stream = graph.stream_of({t});
      if (stream.value >= 0) {
        SimTime& free = stream_end[static_cast<std::size_t>(stream.value)];
        ready = std::max(ready, free);
        free = timeline.end[at({t})];
      }
      exact = exact && timeline.start[at({t})] == ready;
      const SimTime took = timeline.end[at({t})] - timeline.start[at({t})];
      exact = exact && (graph.is_flow({t}) ? took >= graph.duration({t}) : took == graph.duration({t}));
    }
    REQUIRE(exact);
  });
}

TEST_CASE("engine: makespan >= critical path >= longest task") {
  on_random_graphs([](const TaskGraph& graph, const Timeline& timeline) {
    SimTime longest_task;
    for (std::size_t t = 0; t < graph.tasks(); ++t) longest_task = std::max(longest_task, timeline.end[t] - timeline.start[t]);
    SimTime path;
    for (const TaskId task : critical_path(timeline)) path += timeline.end[at(task)] - timeline.start[at(task)];
    REQUIRE(timeline.makespan >= path);
    REQUIRE(path >= longest_task);
    // With observed durations and nothing but dependencies and streams to wait for, all three notions agree.
    REQUIRE(path == timeline.makespan);
    REQUIRE(longest_chain(graph, timeline) == timeline.makespan);
  });
}

TEST_CASE("engine: the critical path has no gaps and no slack") {
  on_random_graphs([](const TaskGraph& graph, const Timeline& timeline) {
    const std::vector<TaskId> path = critical_path(timeline);
    const std::vector<SimTime> spare = slack(graph, timeline);
    REQUIRE(timeline.start[at(path.front())] == SimTime{});
    REQUIRE(timeline.end[at(path.back())] == timeline.makespan);
    for (std::size_t i = 0; i < path.size(); ++i) {
      REQUIRE(spare[at(path[i])] == SimTime{});
      if (i > 0) REQUIRE(timeline.start[at(path[i])] == timeline.end[at(path[i - 1])]);
    }
    REQUIRE(*std::ranges::min_element(spare) == SimTime{});
  });
}

TEST_CASE("engine: a stream is busy for at most the makespan") {
  on_random_graphs([](const TaskGraph& graph, const Timeline& timeline) {
    for (const SimTime busy : stream_busy(graph, timeline)) REQUIRE(busy <= timeline.makespan);
  });
}

TEST_CASE("engine: no link carries more than capacity x time") {
  on_random_graphs([](const TaskGraph& graph, const Timeline& timeline) {
    for (std::int32_t l = 0; l < static_cast<std::int32_t>(graph.links()); ++l) {
      const SimTime busy = timeline.link_busy[static_cast<std::size_t>(l)];
      REQUIRE(busy <= timeline.makespan);
      const double possible = (graph.link_capacity({l}) * busy.seconds()).base();
      REQUIRE(timeline.link_bytes[static_cast<std::size_t>(l)] <= possible * (1.0 + 1e-12));
    }
  });
}

TEST_CASE("engine: the same graph gives the same bytes") {
  on_random_graphs([](const TaskGraph& graph, const Timeline& timeline) {
    const Timeline again = simulate(graph);
    REQUIRE(again.start == timeline.start);
    REQUIRE(again.end == timeline.end);
    REQUIRE(again.link_busy == timeline.link_busy);
    REQUIRE(again.makespan == timeline.makespan);
    REQUIRE(std::memcmp(again.held_by.data(), timeline.held_by.data(), graph.tasks() * sizeof(TaskId)) == 0);
    REQUIRE(std::memcmp(again.link_bytes.data(), timeline.link_bytes.data(), graph.links() * sizeof(double)) == 0);
  });
}

TEST_CASE("engine: more bandwidth never slows flows that wait for nothing") {
  // With dependencies this is false in general: an earlier flow may come to compete with one it used to follow
  // (Graham's anomaly). Flows that all start at time zero cannot be rearranged.
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto build = [&](double scale) {
      std::mt19937_64 same(seed);
      TaskGraph graph;
      for (int l = 0; l < 5; ++l)
        (void)graph.add_link("link", BytesPerSecond(scale * static_cast<double>(1 + same() % 30) * 1e9));
      for (int f = 0; f < 30; ++f) {
        std::vector<LinkUse> route{{{static_cast<std::int32_t>(same() % 5)}}, {{static_cast<std::int32_t>(same() % 5)}, 0.5}};
        graph.add_flow({}, Bytes(static_cast<double>(1 + same() % 1'000'000)), {}, route, {});
      }
      return graph;
    };
    const Timeline slow = simulate(build(1.0));
    const Timeline fast = simulate(build(1.0 + static_cast<double>(1 + random() % 100) / 100.0));
    for (std::size_t f = 0; f < slow.end.size(); ++f) REQUIRE(fast.end[f] <= slow.end[f]);
  }
}

TEST_CASE("engine: doubling bandwidth halves transfers to the picosecond") {
  // Without latency and tasks, time is bytes over rate and nothing else; rounding up may add one picosecond a flow.
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    const auto build = [&](double scale) {
      std::mt19937_64 random(seed);
      TaskGraph graph;
      for (int l = 0; l < 6; ++l)
        (void)graph.add_link("link", BytesPerSecond(scale * static_cast<double>(1 + random() % 30) * 1e9));
      for (int f = 0; f < 40; ++f) {
        std::vector<LinkUse> route{{{static_cast<std::int32_t>(random() % 6)}}, {{static_cast<std::int32_t>(random() % 6)}}};
        graph.add_flow({}, Bytes(static_cast<double>(1 + random() % 1'000'000)), {}, route, {});
      }
      return graph;
    };
    const std::int64_t slow = simulate(build(1.0)).makespan.picoseconds;
    const std::int64_t fast = simulate(build(2.0)).makespan.picoseconds;
    REQUIRE(std::abs(slow - 2 * fast) <= 2 * 40);
  }
}
