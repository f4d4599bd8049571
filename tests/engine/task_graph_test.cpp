#include "model/engine/task_graph.hpp"

#include <vector>

#include "model/engine/timeline.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::engine;

TEST_CASE("a task graph gives back what was added") {
  TaskGraph graph;
  graph.reserve(3, 3);
  const StreamId stream = graph.add_stream("compute");
  const LinkId link = graph.add_link("wire", BytesPerSecond(25e9));
  const TaskId first = graph.add_task(stream, {10}, {}, 42);
  const TaskId flow = graph.add_flow({}, Bytes(1e6), {3}, std::vector<LinkUse>{{link}}, std::vector{first}, 43);
  const TaskId last = graph.add_task({}, {0}, std::vector{first, flow});

  CHECK(graph.tasks() == 3);
  CHECK(graph.streams() == 1);
  CHECK(graph.links() == 1);
  CHECK(graph.stream_name(stream) == "compute");
  CHECK(graph.link_name(link) == "wire");
  CHECK(graph.link_capacity(link) == BytesPerSecond(25e9));
  CHECK(graph.stream_of(first).value == stream.value);
  CHECK(graph.stream_of(flow).value == -1);
  CHECK(graph.duration(first) == SimTime{10});
  CHECK(graph.duration(flow) == SimTime{3});
  CHECK(graph.label(first) == 42);
  CHECK(graph.label(flow) == 43);
  CHECK(graph.label(last) == -1);
  CHECK_FALSE(graph.is_flow(first));
  CHECK(graph.is_flow(flow));
  CHECK(graph.dependencies(first).empty());
  REQUIRE(graph.dependencies(last).size() == 2);
  CHECK(graph.dependencies(last)[0].value == first.value);
  CHECK(graph.dependencies(last)[1].value == flow.value);
}

TEST_CASE("a use of weight 0 neither loads nor waits for its link") {
  // 1 MB at most 1 GB/s; the slow link (1 B/s) is named with weight 0.
  TaskGraph graph;
  const LinkId slow = graph.add_link("slow", BytesPerSecond(1.0));
  graph.add_flow({}, Bytes(1e6), {}, std::vector<LinkUse>{{slow, 0.0}}, {}, -1, BytesPerSecond(1e9));
  const Timeline timeline = simulate(graph);
  CHECK(timeline.makespan == SimTime{1'000'000'000});
  CHECK(timeline.link_bytes[0] == 0.0);
  CHECK(timeline.link_busy[0] == SimTime{});
}

TEST_CASE("an end that was expected is put off by a newcomer") {
  // 4 MB on 1 GB/s, due at 4 ms. At 3.9 ms, with 0.1 MB left, 1 MB joins: at half the rate the first ends at 4.1 ms,
  // the second, then with 0.9 MB left, at 5 ms.
  TaskGraph graph;
  const LinkId link = graph.add_link("wire", BytesPerSecond(1e9));
  const std::vector<LinkUse> route{{link}};
  graph.add_flow({}, Bytes(4e6), {}, route, {});
  graph.add_flow({}, Bytes(1e6), {3'900'000'000}, route, {});
  const Timeline timeline = simulate(graph);
  CHECK(timeline.end[0] == SimTime{4'100'000'000});
  CHECK(timeline.end[1] == SimTime{5'000'000'000});
  CHECK(timeline.makespan == SimTime{5'000'000'000});
}

TEST_CASE("a newcomer that slows a rival brings an end forward") {
  // A and B (4 MB each) share 2 GB/s at 1 each. At 1 ms C (1 MB) joins B on a link of 1 GB/s: B and C 0.5, A 1.5. A,
  // due at 4 ms, ends at 3 ms, and so does C; B has 2 MB left, the second link gives 1 GB/s: 5 ms.
  TaskGraph graph;
  const LinkId first = graph.add_link("first", BytesPerSecond(2e9));
  const LinkId second = graph.add_link("second", BytesPerSecond(1e9));
  graph.add_flow({}, Bytes(4e6), {}, std::vector<LinkUse>{{first}}, {});
  graph.add_flow({}, Bytes(4e6), {}, std::vector<LinkUse>{{first}, {second}}, {});
  graph.add_flow({}, Bytes(1e6), {1'000'000'000}, std::vector<LinkUse>{{second}}, {});
  const Timeline timeline = simulate(graph);
  CHECK(timeline.end[0] == SimTime{3'000'000'000});
  CHECK(timeline.end[1] == SimTime{5'000'000'000});
  CHECK(timeline.end[2] == SimTime{3'000'000'000});
  CHECK(timeline.makespan == SimTime{5'000'000'000});
}

TEST_CASE("a queue takes what is ready, least priority value first, and does not interrupt") {
  // Four tasks of 10 ps become ready at 0, 1, 2, 3 ps with priorities 5, 9, 9, 1. The first starts at once; of those that
  // wait at 10 ps the last has precedence; the other two keep the order in which they became ready.
  TaskGraph graph;
  const StreamId queue = graph.add_queue("nic");
  std::vector<TaskId> sent;
  const std::int32_t priorities[] = {5, 9, 9, 1};
  for (std::int64_t i = 0; i < 4; ++i) {
    const TaskId ready = graph.add_task({}, SimTime{i}, {});
    sent.push_back(graph.add_task(queue, SimTime{10}, {{ready}}));
    graph.set_priority(sent.back(), priorities[i]);
  }
  const Timeline timeline = simulate(graph);
  const std::int64_t starts[] = {0, 20, 30, 10};
  for (std::size_t i = 0; i < 4; ++i) CHECK(timeline.start[static_cast<std::size_t>(sent[i].value)] == SimTime{starts[i]});
  CHECK(timeline.held_by[static_cast<std::size_t>(sent[3].value)].value == sent[0].value);
  CHECK(timeline.makespan == SimTime{40});
}

TEST_CASE("a flow holds its queue from latency to last byte") {
  // Two flows of 1 MB over 1 GB/s, 1 ms latency each, both ready at 0: 2 ms and 4 ms, not shared.
  TaskGraph graph;
  const StreamId queue = graph.add_queue("nic");
  const LinkId link = graph.add_link("wire", BytesPerSecond(1e9));
  const std::vector<LinkUse> route{{link}};
  for (int i = 0; i < 2; ++i) graph.add_flow(queue, Bytes(1e6), {1'000'000'000}, route, {});
  const Timeline timeline = simulate(graph);
  CHECK(timeline.end[0] == SimTime{2'000'000'000});
  CHECK(timeline.end[1] == SimTime{4'000'000'000});
}

TEST_CASE("a queue with two workers runs two at a time, the next one on whichever is free first") {
  TaskGraph graph;
  const StreamId queue = graph.add_queue("copies", 2);
  const std::int64_t durations[] = {30, 10, 10, 10, 10};
  for (const std::int64_t duration : durations) graph.add_task(queue, SimTime{duration}, {});
  const Timeline timeline = simulate(graph);
  const std::int64_t starts[] = {0, 0, 10, 20, 30};
  for (std::size_t i = 0; i < 5; ++i) CHECK(timeline.start[i] == SimTime{starts[i]});
  CHECK(timeline.held_by[4].value == 0);
  CHECK(timeline.makespan == SimTime{40});
}
