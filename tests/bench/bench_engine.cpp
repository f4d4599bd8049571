// Goals set on: AMD EPYC (family 26), 2 cores of a shared virtual machine, GCC 12, Release.
#include <fmt/core.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "model/engine/event_queue.hpp"
#include "model/engine/timeline.hpp"
#include "tests/bench/bench.hpp"

namespace tbdsim::bench {

namespace {

using namespace tbdsim::engine;

constexpr StreamId kNoStream{};

/// The hold model: with `pending` events in the queue, pop one and push one that lies up to 20 us ahead, the scale
/// of kernels and messages. Source: Jones, "An empirical comparison of priority-queue and event-set
/// implementations", Commun. ACM 29(4), 1986.
class Hold {
 public:
  explicit Hold(std::size_t pending) : increments_(1U << 16U) {
    std::mt19937_64 random(2024);
    for (std::int64_t& increment : increments_) increment = static_cast<std::int64_t>(random() % 20'000'000);
    for (std::size_t i = 0; i < pending; ++i) queue_.push({static_cast<std::int64_t>(random() % 20'000'000)}, 0);
  }
  void run(int events) {
    for (int i = 0; i < events; ++i) {
      const auto event = queue_.pop();
      queue_.push(event.time + SimTime{increments_[next_++ % increments_.size()]}, event.payload + 1);
    }
    keep(queue_.now());
  }

 private:
  std::vector<std::int64_t> increments_;
  std::size_t next_ = 0;
  EventQueue<std::int64_t> queue_;
};

void event_queue(Report& report) {
  constexpr int kEvents = 4'000'000;
  constexpr double kGoal = 5e6;
  double slowest = 1e300, fastest = 0.0;
  for (const std::size_t pending : {1'000U, 10'000U, 100'000U, 1'000'000U}) {
    const std::string name = fmt::format("event queue, hold, {} pending", pending);
    if (!report.wanted(name)) return;
    Hold hold(pending);
    const Spread rate = report.rate(name, kEvents, "events", kGoal, 7, [&] { hold.run(kEvents); });
    slowest = std::min(slowest, rate.median);
    fastest = std::max(fastest, rate.median);
  }
  report.ratio("event queue, hold, fastest over slowest length", fastest / slowest, 3.0);
}

/// `flows` flows that start at random within a time in which most are moving at once, each on two of its group's
/// links; `group_links` links a group, four flows for each link.
TaskGraph flow_storm(int flows, int group_links) {
  std::mt19937_64 random(7);
  TaskGraph graph;
  for (int l = 0; l < flows / 4; ++l) (void)graph.add_link("link", BytesPerSecond(25e9));
  const auto links = static_cast<std::uint64_t>(group_links);
  for (int f = 0; f < flows; ++f) {
    const int group = f / (4 * group_links);
    const auto a = static_cast<std::int32_t>(random() % links) + group * group_links;
    const auto b = static_cast<std::int32_t>(random() % links) + group * group_links;
    graph.add_flow(kNoStream, Bytes(1e6 + static_cast<double>(random() % 1'000'000)),
                   {static_cast<std::int64_t>(random() % 200'000'000)}, std::vector<LinkUse>{{{a}}, {{b}}}, {});
  }
  return graph;
}

/// Forward, backward and update on 8 devices with a host thread each; gradients leave in 38 buckets of 8 flows, one
/// per device over three of 24 links. About 10,000 tasks, of which 304 flows.
TaskGraph data_parallel_step() {
  constexpr int kDevices = 8, kKernels = 600, kBuckets = 38;
  TaskGraph graph;
  std::vector<StreamId> host, compute, exchange;
  std::vector<LinkId> links;
  for (int d = 0; d < kDevices; ++d) {
    host.push_back(graph.add_stream("host"));
    compute.push_back(graph.add_stream("compute"));
    exchange.push_back(graph.add_stream("exchange"));
  }
  for (int l = 0; l < 3 * kDevices; ++l) links.push_back(graph.add_link("link", BytesPerSecond(25e9)));
  std::mt19937_64 random(1);
  for (int k = 0; k < kKernels; ++k) {
    const SimTime duration{static_cast<std::int64_t>(20'000'000 + random() % 100'000'000)};
    const bool bucket = k >= kKernels / 3 && (k - kKernels / 3) % ((kKernels - kKernels / 3) / kBuckets) == 0;
    std::vector<TaskId> ended;
    for (std::size_t d = 0; d < kDevices; ++d) {
      const TaskId launch = graph.add_task(host[d], {5'000'000}, {});
      ended.push_back(graph.add_task(compute[d], duration + SimTime{static_cast<std::int64_t>(random() % 1000)}, {{launch}}));
    }
    for (std::size_t d = 0; bucket && d < kDevices; ++d) {
      const std::vector<LinkUse> route{{links[d], 1.75}, {links[(d + 1) % 24], 1.75}, {links[8 + 2 * d], 1.75}};
      graph.add_flow(exchange[d], Bytes(2.5e6), {10'000'000}, route, ended);
    }
  }
  return graph;
}

}  // namespace

void bench_engine(Report& report) {
  event_queue(report);
  for (const int flows : {100, 1'000, 10'000, 100'000}) {
    // Separate groups, as in separate nodes: cost per flow stays flat, 10 us for its start and its end.
    constexpr int kGroupLinks = 5;
    const std::string name = fmt::format("simulate, {} flows, groups of {}", flows, 4 * kGroupLinks);
    if (!report.wanted(name)) continue;
    const TaskGraph graph = flow_storm(flows, kGroupLinks);
    report.time(name, Seconds(10e-6 * flows), 7, [&] { keep(simulate(graph)); });
  }
  for (const int flows : {100, 300, 1'000}) {
    // One group: every start and end may change every rate, so the cost grows with the square, 200 ns a pair.
    const TaskGraph graph = flow_storm(flows, flows / 4);
    report.time(fmt::format("simulate, {} flows, all connected", flows), Seconds(200e-9 * flows * flows), 7,
                [&] { keep(simulate(graph)); });
  }
  const TaskGraph step = data_parallel_step();
  report.time(fmt::format("simulate, data-parallel step of {} tasks", step.tasks()), Seconds(1e-3), 101,
              [&] { keep(simulate(step)); });
}

}  // namespace tbdsim::bench
