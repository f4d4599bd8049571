#include "model/engine/timeline.hpp"

#include <vector>

#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::engine;

namespace {

SimTime ps(std::int64_t value) { return {value}; }

std::vector<std::int32_t> values(const std::vector<TaskId>& tasks) {
  std::vector<std::int32_t> result;
  for (const TaskId task : tasks) result.push_back(task.value);
  return result;
}

/// fork: 0 (10) -> 1 (20) and 2 (5) -> 3 (7), all on streams of their own.
struct Fork {
  TaskGraph graph;
  TaskId root, slow, fast, join;
  Fork() {
    std::vector<StreamId> streams;
    for (int i = 0; i < 4; ++i) streams.push_back(graph.add_stream("s"));
    root = graph.add_task(streams[0], ps(10), {});
    slow = graph.add_task(streams[1], ps(20), std::vector{root});
    fast = graph.add_task(streams[2], ps(5), std::vector{root});
    join = graph.add_task(streams[3], ps(7), std::vector{slow, fast});
  }
};

}  // namespace

TEST_CASE("critical path of a fork goes through its slower side") {
  const Fork fork;
  const Timeline timeline = simulate(fork.graph);
  CHECK(timeline.makespan == ps(37));
  CHECK(values(critical_path(timeline)) == std::vector<std::int32_t>{0, 1, 3});
}

TEST_CASE("slack is what the faster side of a fork can lose") {
  const Fork fork;
  const std::vector<SimTime> spare = slack(fork.graph, simulate(fork.graph));
  CHECK(spare == std::vector<SimTime>{ps(0), ps(0), ps(15), ps(0)});
}

TEST_CASE("slack keeps the order on a stream") {
  // a (3) then b (4) on one stream, c (10) on another: b can end 3 later, and a too, as b follows it.
  TaskGraph graph;
  const StreamId one = graph.add_stream("one");
  const StreamId two = graph.add_stream("two");
  graph.add_task(one, ps(3), {});
  graph.add_task(one, ps(4), {});
  graph.add_task(two, ps(10), {});
  CHECK(slack(graph, simulate(graph)) == std::vector<SimTime>{ps(3), ps(3), ps(0)});
}

TEST_CASE("a marker of no length at the end closes the critical path") {
  TaskGraph graph;
  const StreamId stream = graph.add_stream("s");
  const TaskId work = graph.add_task(stream, ps(10), {});
  graph.add_task({}, ps(0), std::vector{work});
  CHECK(values(critical_path(simulate(graph))) == std::vector<std::int32_t>{0, 1});
}

TEST_CASE("of two predecessors that end together the one whose event comes last holds the task") {
  // Both end at 10; the events were queued in the order of the tasks, so task 1 ends second.
  TaskGraph graph;
  const TaskId first = graph.add_task(graph.add_stream("a"), ps(10), {});
  const TaskId second = graph.add_task(graph.add_stream("b"), ps(10), {});
  graph.add_task({}, ps(1), std::vector{first, second});
  graph.add_task({}, ps(1), std::vector{second, first});
  const Timeline timeline = simulate(graph);
  CHECK(timeline.held_by[2].value == second.value);
  CHECK(timeline.held_by[3].value == second.value);
}

TEST_CASE("a dependency named twice counts once") {
  TaskGraph graph;
  const TaskId first = graph.add_task({}, ps(10), {});
  const TaskId second = graph.add_task({}, ps(1), std::vector{first, first});
  CHECK(simulate(graph).start[static_cast<std::size_t>(second.value)] == ps(10));
}

TEST_CASE("covered and exposed time") {
  // compute 0..10 and 10..14, transfers 5..12 and 20..23 (behind a pause of 8 ps after the first).
  TaskGraph graph;
  const StreamId compute = graph.add_stream("compute");
  const StreamId wait = graph.add_stream("wait");
  const StreamId transfer = graph.add_stream("transfer");
  const TaskId a = graph.add_task(compute, ps(10), {});
  const TaskId b = graph.add_task(compute, ps(4), {});
  const TaskId pause = graph.add_task(wait, ps(5), {});
  const TaskId first = graph.add_task(transfer, ps(7), std::vector{pause});
  const TaskId longer_pause = graph.add_task(wait, ps(8), std::vector{first});
  const TaskId second = graph.add_task(transfer, ps(3), std::vector{longer_pause});
  const Timeline timeline = simulate(graph);
  const std::vector<TaskId> work{a, b}, transfers{first, second};
  CHECK(covered_time(timeline, work) == ps(14));
  CHECK(covered_time(timeline, transfers) == ps(10));
  CHECK(covered_time(timeline, {}) == ps(0));
}
