// Goals set on: AMD EPYC (family 26), 2 cores of a shared virtual machine, GCC 12, Release.
// The peer's published cost of a flat ring all-reduce: 13 CPU-s and 357 MB over 1,024 ranks (ASTRA-sim).
#include <fmt/core.h>

#include <cmath>
#include <fstream>
#include <numeric>

#include "model/engine/timeline.hpp"
#include "model/prediction/predict.hpp"
#include "tests/architectures.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/step_case.hpp"

namespace tbdsim::bench {

namespace {

constexpr int kRuns = 10;

/// `gpus` behind one switch.
System switched(int gpus) {
  System system;
  system.id = "switched";
  system.gpu_count = gpus;
  name_architecture(system.device, "Ampere");
  system.device.compute_capability = "8.0";
  Topology& topology = system.topology;
  for (int i = 0; i < gpus; ++i) topology.vertices.push_back({fmt::format("gpu{}", i), VertexKind::gpu});
  topology.vertices.push_back({"nvswitch0", VertexKind::nvswitch});
  for (int i = 0; i < gpus; ++i) {
    LinkBundle link;
    link.name = fmt::format("gpu{}-nvswitch0", i);
    link.a = {i};
    link.b = {gpus};
    link.count = 12;
    link.bandwidth = link.achieved = link.sm_copy = BytesPerSecond(25e9);
    topology.links.push_back(link);
  }
  return system;
}

/// Most memory that the process has held so far; zero where the system does not tell.
Bytes peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    double kibibytes = 0.0;
    status >> kibibytes;
    return Bytes(1024.0 * kibibytes);
  }
  return Bytes(0.0);
}

/// Plans the rings and simulates one call, which loads every port both ways.
double flat_ring(Report& report, int ranks) {
  const System system = switched(ranks);
  std::vector<int> devices(static_cast<std::size_t>(ranks));
  std::iota(devices.begin(), devices.end(), 0);
  const Bytes before = peak_memory();
  const Spread spread = report.time(fmt::format("flat ring all-reduce over {} ranks", ranks), Seconds(10e-3), kRuns, [&] {
    const auto plan = plan_collective(system, {devices, 1, std::nullopt}, CollectiveKind::all_reduce, {});
    const CollectiveCall call = collective_call(*plan, Bytes(100e6));
    engine::TaskGraph graph;
    std::vector<engine::LinkUse> route;
    for (const LinkWeight& use : call.weights) {
      const CollectiveLink& link = plan->links[static_cast<std::size_t>(use.link)];
      route.push_back({graph.add_link(link.name, link.capacity), use.weight});
    }
    graph.add_flow({-1}, Bytes(100e6), SimTime::from(call.latency), route, {}, -1, call.rate);
    keep(engine::simulate(graph));
  });
  if (peak_memory() > before)
    report.size(fmt::format("flat ring over {} ranks, memory", ranks), peak_memory() - before, Bytes(30e6));
  return spread.min;  // growth is told by what other programs cannot lengthen
}

double step(Report& report, int gpus, Seconds goal) {
  const std::string name = fmt::format("step of resnet50 on {} GPUs of dgx1", gpus);
  if (!report.wanted(name)) return 0.0;
  const auto session = open_session(catalogue());
  PredictOptions options;
  options.hardware = "dgx1";
  options.model = "resnet50";
  options.gpus = gpus;
  return report.time(name, goal, kRuns, [&] { keep(predict(*session, options)); }).median;
}

}  // namespace

void bench_collective(Report& report) {
  const double few = flat_ring(report, 512), many = flat_ring(report, 4096);
  if (few > 0.0 && many > 0.0)
    report.ratio("flat ring: growth of time with ranks, exponent", std::log(many / few) / std::log(8.0), 1.1);
  const double small = step(report, 4096, Seconds(50e-3)), large = step(report, 65536, Seconds(1.0));
  if (small > 0.0 && large > 0.0)
    report.ratio("step: growth of time with GPUs, exponent", std::max(0.0, std::log(large / small) / std::log(16.0)), 1.1);
  report.size("steps on up to 65536 GPUs, peak memory of all these", peak_memory(), Bytes(50e6));
}

}  // namespace tbdsim::bench
