#include <fmt/format.h>

#include <string>
#include <vector>

#include "model/engine/timeline.hpp"
#include "tests/engine/stream_busy.hpp"
#include "tests/golden/golden.hpp"

using namespace tbdsim;
using namespace tbdsim::engine;

namespace {

/// One line per task in order of id, then streams, links and the critical path. Times in picoseconds.
std::string text(const TaskGraph& graph, const Timeline& timeline) {
  std::string out = "task  kind  stream    start_ps       end_ps  held_by     slack_ps\n";
  const std::vector<SimTime> spare = slack(graph, timeline);
  for (std::int32_t t = 0; t < static_cast<std::int32_t>(graph.tasks()); ++t) {
    const auto i = static_cast<std::size_t>(t);
    const StreamId stream = graph.stream_of({t});
    out += fmt::format("{:>4}  {}  {:<6} {:>11} {:>12}  {:>7} {:>12}\n", t, graph.is_flow({t}) ? "flow" : "task",
                       stream.value < 0 ? "-" : graph.stream_name(stream), timeline.start[i].picoseconds,
                       timeline.end[i].picoseconds, timeline.held_by[i].value, spare[i].picoseconds);
  }
  const std::vector<SimTime> busy = stream_busy(graph, timeline);
  for (std::int32_t s = 0; s < static_cast<std::int32_t>(graph.streams()); ++s) {
    out += fmt::format("stream {} busy {} ps\n", graph.stream_name({s}), busy[static_cast<std::size_t>(s)].picoseconds);
  }
  for (std::int32_t l = 0; l < static_cast<std::int32_t>(graph.links()); ++l) {
    const auto i = static_cast<std::size_t>(l);
    out += fmt::format("link {} busy {} ps, {:.0f} B\n", graph.link_name({l}), timeline.link_busy[i].picoseconds,
                       timeline.link_bytes[i]);
  }
  out += "critical path";
  for (const TaskId task : critical_path(timeline)) out += fmt::format(" {}", task.value);
  return out + fmt::format("\nmakespan {} ps\n", timeline.makespan.picoseconds);
}

/// Four devices that compute three pieces each and exchange every piece over a ring while the next is computed; a
/// copy to each device shares the first link.
TaskGraph overlapped_exchange() {
  constexpr std::size_t kDevices = 4;
  TaskGraph graph;
  std::vector<StreamId> compute, exchange;
  std::vector<LinkId> ring;
  for (std::size_t d = 0; d < kDevices; ++d) {
    compute.push_back(graph.add_stream(fmt::format("run{}", d)));
    exchange.push_back(graph.add_stream(fmt::format("send{}", d)));
    ring.push_back(graph.add_link(fmt::format("hop{}", d), BytesPerSecond(20e9)));
  }
  for (std::int64_t piece = 0; piece < 3; ++piece) {
    std::vector<TaskId> computed;
    for (std::size_t d = 0; d < kDevices; ++d) {
      computed.push_back(graph.add_task(compute[d], {100'000'000 + 7'000'000 * static_cast<std::int64_t>(d) * piece}, {}));
    }
    for (std::size_t d = 0; d < kDevices; ++d) {
      graph.add_flow(exchange[d], Bytes(1e6), {5'000'000}, std::vector<LinkUse>{{ring[d], 1.5}}, computed);
    }
    graph.add_flow({}, Bytes(2e6), {1'000'000}, std::vector<LinkUse>{{ring[0]}, {ring[1]}}, {}, -1, BytesPerSecond(12e9));
  }
  return graph;
}

}  // namespace

TEST_CASE("engine: timeline of an overlapped exchange") {
  const TaskGraph graph = overlapped_exchange();
  golden::check("engine_overlapped_exchange.txt", text(graph, simulate(graph)));
}
