// Small graphs whose answer is derived in the comment; the engine must give it to the picosecond.
#include <cstdint>
#include <vector>

#include "model/engine/timeline.hpp"
#include "tests/catch.hpp"
#include "tests/engine/stream_busy.hpp"

using namespace tbdsim;
using namespace tbdsim::engine;

namespace {

constexpr std::int64_t kMicrosecond = 1'000'000;
constexpr std::int64_t kMillisecond = 1'000 * kMicrosecond;

SimTime ps(std::int64_t value) { return {value}; }
SimTime end(const Timeline& timeline, TaskId task) { return timeline.end[static_cast<std::size_t>(task.value)]; }
SimTime start(const Timeline& timeline, TaskId task) { return timeline.start[static_cast<std::size_t>(task.value)]; }
TaskId held_by(const Timeline& timeline, TaskId task) { return timeline.held_by[static_cast<std::size_t>(task.value)]; }

constexpr StreamId kNoStream{};

TaskId flow(TaskGraph& graph, double bytes, std::vector<LinkUse> route, std::vector<TaskId> after = {}, SimTime latency = {}) {
  return graph.add_flow(kNoStream, Bytes(bytes), latency, route, after);
}

}  // namespace

TEST_CASE("engine: a flow alone takes latency + bytes / bandwidth") {
  // 5 us + 25e6 B / 25e9 B/s = 5 us + 1 ms
  TaskGraph graph;
  const LinkId link = graph.add_link("wire", BytesPerSecond(25e9));
  const TaskId one = flow(graph, 25e6, {{link}}, {}, ps(5 * kMicrosecond));
  const Timeline timeline = simulate(graph);
  CHECK(end(timeline, one) == ps(kMillisecond + 5 * kMicrosecond));
  CHECK(timeline.makespan == end(timeline, one));
  CHECK(timeline.link_busy[0] == ps(kMillisecond));
  CHECK(timeline.link_bytes[0] == 25e6);
}

TEST_CASE("engine: a fraction of a picosecond rounds up, a whole number stays") {
  // 1 B at 3e12 B/s is a third of a picosecond; 3 B are one.
  for (const auto& [bytes, expected] : {std::pair(1.0, 1), std::pair(3.0, 1), std::pair(3.001, 2), std::pair(6.0, 2)}) {
    TaskGraph graph;
    const LinkId link = graph.add_link("wire", BytesPerSecond(3e12));
    flow(graph, bytes, {{link}});
    CHECK(simulate(graph).makespan == ps(expected));
  }
}

TEST_CASE("engine: a flow of no bytes takes its latency and no link") {
  TaskGraph graph;
  const LinkId link = graph.add_link("wire", BytesPerSecond(1e9));
  const TaskId empty = flow(graph, 0.0, {{link}}, {}, ps(7));
  const TaskId full = flow(graph, 1e6, {{link}});
  const Timeline timeline = simulate(graph);
  CHECK(end(timeline, empty) == ps(7));
  CHECK(end(timeline, full) == ps(kMillisecond));
}

TEST_CASE("engine: two flows share a link") {
  // 1 MB and 3 MB on 1 GB/s: both at 0.5 GB/s until the small one ends at 2 ms; the other then has 2 MB left and
  // the whole link, and ends at 4 ms, as all 4 MB must.
  TaskGraph graph;
  const LinkId link = graph.add_link("wire", BytesPerSecond(1e9));
  const TaskId small = flow(graph, 1e6, {{link}});
  const TaskId large = flow(graph, 3e6, {{link}});
  const Timeline timeline = simulate(graph);
  CHECK(end(timeline, small) == ps(2 * kMillisecond));
  CHECK(end(timeline, large) == ps(4 * kMillisecond));
  CHECK(timeline.link_busy[0] == ps(4 * kMillisecond));
}

TEST_CASE("engine: a flow joins another half way") {
  // 4 MB from time 0, 1 MB from 2 ms, on 1 GB/s. At 2 ms the first has 2 MB left. Shared at 0.5 GB/s, the second
  // ends at 4 ms, when the first has 1 MB left: 5 ms.
  TaskGraph graph;
  const LinkId link = graph.add_link("wire", BytesPerSecond(1e9));
  const TaskId first = flow(graph, 4e6, {{link}});
  const TaskId second = flow(graph, 1e6, {{link}}, {}, ps(2 * kMillisecond));
  const Timeline timeline = simulate(graph);
  CHECK(start(timeline, second) == ps(0));
  CHECK(end(timeline, second) == ps(4 * kMillisecond));
  CHECK(end(timeline, first) == ps(5 * kMillisecond));
}

TEST_CASE("engine: four flows over two links, max-min fair") {
  // A crosses both links (1 GB/s each), B and B' the first, C the second. The first link gives 1/3 each; C gets the
  // 2/3 that A leaves. With 1 MB for A, B, B' and 2 MB for C all end at 3 ms.
  TaskGraph graph;
  const LinkId first = graph.add_link("first", BytesPerSecond(1e9));
  const LinkId second = graph.add_link("second", BytesPerSecond(1e9));
  flow(graph, 1e6, {{first}, {second}});
  flow(graph, 1e6, {{first}});
  flow(graph, 1e6, {{first}});
  flow(graph, 2e6, {{second}});
  const Timeline timeline = simulate(graph);
  for (const SimTime ended : timeline.end) CHECK(ended == ps(3 * kMillisecond));
  CHECK(timeline.link_bytes[0] == 3e6);
  CHECK(timeline.link_bytes[1] == 3e6);
}

TEST_CASE("engine: a rate limit below the link") {
  // 1 MB at most at 0.25 GB/s beside 3 MB on 1 GB/s: the limited flow ends at 4 ms, the other at 0.75 GB/s too.
  TaskGraph graph;
  const LinkId link = graph.add_link("wire", BytesPerSecond(1e9));
  const std::vector<LinkUse> route{{link}};
  const TaskId limited = graph.add_flow(kNoStream, Bytes(1e6), {}, route, {}, -1, BytesPerSecond(0.25e9));
  const TaskId free = flow(graph, 3e6, route);
  const Timeline timeline = simulate(graph);
  CHECK(end(timeline, limited) == ps(4 * kMillisecond));
  CHECK(end(timeline, free) == ps(4 * kMillisecond));
}

TEST_CASE("engine: a link named twice in a route carries the sum") {
  // Out and back over one wire: 2 MB of traffic for 1 MB of flow.
  TaskGraph graph;
  const LinkId link = graph.add_link("wire", BytesPerSecond(1e9));
  flow(graph, 1e6, {{link}, {link}});
  const Timeline timeline = simulate(graph);
  CHECK(timeline.makespan == ps(2 * kMillisecond));
  CHECK(timeline.link_bytes[0] == 2e6);
  CHECK(timeline.link_busy[0] == ps(2 * kMillisecond));
}

TEST_CASE("engine: alpha-beta ring all-reduce as chained flows") {
  // p = 4, S = 4 MB, alpha = 10 us, link 1 GB/s in each direction of the ring. 2(p-1) = 6 steps; in each step every
  // rank sends S/p = 1 MB to its neighbour over its own link and needs what arrived in the step before:
  // 6 (10 us + 1 ms) = 6.06 ms. As one flow with weight 2(p-1)/p on each link: 6 ms of transfer.
  constexpr int kRanks = 4;
  TaskGraph graph;
  std::vector<LinkId> ring;
  for (int rank = 0; rank < kRanks; ++rank) ring.push_back(graph.add_link("hop", BytesPerSecond(1e9)));
  std::vector<TaskId> arrived(kRanks);
  for (int step = 0; step < 2 * (kRanks - 1); ++step) {
    std::vector<TaskId> sent;
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      const std::vector<TaskId> after =
          step == 0 ? std::vector<TaskId>{} : std::vector<TaskId>{arrived[rank], arrived[(rank + kRanks - 1) % kRanks]};
      sent.push_back(flow(graph, 1e6, {{ring[rank]}}, after, ps(10 * kMicrosecond)));
    }
    arrived = sent;
  }
  const Timeline timeline = simulate(graph);
  CHECK(timeline.makespan == ps(6 * kMillisecond + 60 * kMicrosecond));
  for (const double bytes : timeline.link_bytes) CHECK(bytes == 6e6);

  TaskGraph whole;
  std::vector<LinkUse> route;
  for (int rank = 0; rank < kRanks; ++rank) {
    route.push_back({whole.add_link("hop", BytesPerSecond(1e9)), 2.0 * (kRanks - 1) / kRanks});
  }
  flow(whole, 4e6, route);
  CHECK(simulate(whole).makespan == ps(6 * kMillisecond));
}

TEST_CASE("engine: a stream runs its tasks in the order they were added") {
  // b is ready at 0 but was added after a, which waits for c (30): a 30..40, b 40..45.
  TaskGraph graph;
  const StreamId main = graph.add_stream("main");
  const StreamId side = graph.add_stream("side");
  const TaskId c = graph.add_task(side, ps(30), {});
  const TaskId a = graph.add_task(main, ps(10), std::vector{c});
  const TaskId b = graph.add_task(main, ps(5), {});
  const Timeline timeline = simulate(graph);
  CHECK(start(timeline, a) == ps(30));
  CHECK(start(timeline, b) == ps(40));
  CHECK(timeline.makespan == ps(45));
  CHECK(held_by(timeline, c).value == -1);
  CHECK(held_by(timeline, a).value == c.value);
  CHECK(held_by(timeline, b).value == a.value);
}

TEST_CASE("engine: a flow on a stream occupies it through latency and transfer") {
  // 2 ps latency + 10 B at 1e12 B/s = 10 ps, then the next task of the stream.
  TaskGraph graph;
  const StreamId stream = graph.add_stream("copy");
  const LinkId link = graph.add_link("wire", BytesPerSecond(1e12));
  graph.add_flow(stream, Bytes(10.0), ps(2), std::vector<LinkUse>{{link}}, {});
  const TaskId next = graph.add_task(stream, ps(3), {});
  const Timeline timeline = simulate(graph);
  CHECK(start(timeline, next) == ps(12));
  CHECK(stream_busy(graph, timeline)[0] == ps(15));
}

TEST_CASE("engine: pipeline bubble is (p-1)/(m+p-1)") {
  // p stages, m micro-batches, every stage takes t: the last stage ends at (m+p-1) t, each stage works m t, so the
  // idle part of the whole is 1 - m/(m+p-1) = (p-1)/(m+p-1).
  for (const auto& [p, m] : {std::pair(4, 8), std::pair(2, 1), std::pair(8, 32)}) {
    INFO(p << " stages, " << m << " micro-batches");
    constexpr std::int64_t t = 1000;
    TaskGraph graph;
    std::vector<StreamId> stages;
    for (int stage = 0; stage < p; ++stage) stages.push_back(graph.add_stream("stage"));
    for (int micro_batch = 0; micro_batch < m; ++micro_batch) {
      std::vector<TaskId> after;
      for (const StreamId stage : stages) after = {graph.add_task(stage, ps(t), after)};
    }
    const Timeline timeline = simulate(graph);
    CHECK(timeline.makespan == ps((m + p - 1) * t));
    SimTime busy;
    for (const SimTime stage : stream_busy(graph, timeline)) busy += stage;
    const double idle = 1.0 - busy.seconds() / (static_cast<double>(p) * timeline.makespan.seconds());
    CHECK_THAT(idle, WithinRel((p - 1.0) / (m + p - 1.0), 1e-12));
  }
}

TEST_CASE("engine: a graph without tasks ends at once") {
  const Timeline timeline = simulate(TaskGraph{});
  CHECK(timeline.makespan == ps(0));
  CHECK(critical_path(timeline).empty());
}
