// Goals set on: AMD EPYC (family 26), 2 cores of a shared virtual machine, GCC 12, Release.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "model/hardware/plain_host.hpp"
#include "model/hardware/topology.hpp"
#include "model/prediction/step_times.hpp"
#include "model/schedule/data_path.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/step_case.hpp"

namespace tbdsim::bench {

namespace {

constexpr int kRuns = 20;
constexpr int kCalls = 20;

/// Least and greatest cost per unit over inputs of different sizes: what grows in proportion keeps them close.
struct UnitCost {
  double least = 1e300, greatest = 0.0;
  void add(double cost) {
    least = std::min(least, cost);
    greatest = std::max(greatest, cost);
  }
  void tell(Report& report, std::string_view name, double goal) const {
    if (greatest > 0.0) report.ratio(name, greatest / least, goal);
  }
};

/// Lower with kernel costs, simulate and summarise; the cost joins `per_node` as seconds per node of the step.
void time_step(Report& report, const std::string& network, int ranks, UnitCost& per_node) {
  const std::string name = fmt::format("step growth: {} on {} GPU{}", network, ranks, ranks == 1 ? "" : "s");
  if (!report.wanted(name)) return;
  const StepCase c = dgx1_step(network, ranks);
  const std::size_t nodes = c.lowered().nodes.size();
  const Seconds goal(1e-6 * static_cast<double>(nodes));
  const Spread spread = report.each(fmt::format("{}, {} nodes", name, nodes), goal, kRuns, kCalls, [&] {
    for (int i = 0; i < kCalls; ++i) {
      const LoweredStep lowered = c.lowered();
      keep(step_times(lowered, engine::simulate(lowered.graph)));
    }
  });
  per_node.add(spread.median / static_cast<double>(nodes));
}

void steps(Report& report) {
  UnitCost over_layers, over_ranks;
  for (const char* network : {"resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "densenet201"})
    time_step(report, network, 8, over_layers);
  over_layers.tell(report, "step growth: cost per node over layers", 1.5);
  // Ranks are alike and simulated once: what grows is the number of links.
  for (int ranks = 1; ranks <= 8; ++ranks) time_step(report, "resnet50", ranks, over_ranks);
  over_ranks.tell(report, "step growth: cost per node over ranks", 1.5);
}

void rings(Report& report) {
  const System system = dgx1_step("resnet18", 1).system;
  std::vector<int> devices{0};
  for (int device = 1; device < 8; ++device) {
    devices.push_back(device);
    report.each(fmt::format("ring search: {} GPUs of dgx1", devices.size()), Seconds(200e-6), kRuns, kCalls, [&] {
      for (int i = 0; i < kCalls; ++i) keep(plan_collective(system, {devices, 1, std::nullopt}, CollectiveKind::all_reduce, {}));
    });
  }
}

/// GPUs of one node: its rings, the ways of its copies, and, for fewer, all pairs. Each search costs what lies between two GPUs.
void nodes_of_many_gpus(Report& report) {
  const System small = *load_system(catalogue(), "p4000", 1);
  UnitCost per_gpu, per_pair;
  for (const int gpus : {512, 1024, 2048, 4096}) {
    System node = small;
    node.gpu_count = gpus;
    const auto wiring = *load_plain_wiring(catalogue(), node.device);
    node.topology = {node_vertices(gpus, wiring.host.sockets, 0, 0, 0), {}};
    add_plain_pcie(node.topology, wiring.types);
    std::vector<int> devices(static_cast<std::size_t>(gpus));
    std::iota(devices.begin(), devices.end(), 0);
    const Seconds goal(5e-6 * gpus);
    const Spread ring = report.time(fmt::format("ring over PCIe: {} GPUs", gpus), goal, kRuns,
                                    [&] { keep(find_rings(node.topology, node.topology.gpus())); });
    if (ring.median > 0.0) per_gpu.add(ring.median / gpus);
    report.time(fmt::format("copies of the input: {} GPUs", gpus), goal, kRuns,
                [&] { keep(input_copy_time(node.topology, devices, Bytes(1e6), true)); });
    if (gpus > 1024) continue;
    const Spread pairs = report.time(fmt::format("all pairs: {} GPUs", gpus), Seconds(1e-6 * gpus * gpus), kRuns,
                                     [&] { keep(pair_matrix(node.topology)); });
    if (pairs.median > 0.0) per_pair.add(pairs.median / gpus / gpus);
  }
  per_gpu.tell(report, "growth: cost of a ring per GPU", 2.0);
  per_pair.tell(report, "growth: cost per pair of GPUs", 2.0);
}

void build_zoo(Report& report) {
  UnitCost per_operator;
  for (const char* network : {"resnet18", "resnet50", "resnet152", "densenet201"}) {
    const ZooEntry& entry = **find_network(network, "torchvision");
    const auto operators = static_cast<double>(entry.build(entry, {})->ops.size());
    const Spread spread = report.each(fmt::format("build {}, {} operators, with training step", network, operators),
                                      Seconds(1e-6 * operators), kRuns, kCalls, [&] {
                                        for (int i = 0; i < kCalls; ++i) keep(training_step(*entry.build(entry, {})));
                                      });
    if (spread.median > 0.0) per_operator.add(spread.median / operators);
  }
  per_operator.tell(report, "build: cost per operator over networks", 2.0);
  report.time(fmt::format("build all {} zoo networks", zoo().size()), Seconds(200e-6 * static_cast<double>(zoo().size())), kRuns,
              [&] {
                for (const ZooEntry& entry : zoo()) keep(entry.build(entry, {}));
              });
}

void read_files(Report& report) {
  report.time("read dgx1.toml and the files it names", Seconds(1.5e-3), kRuns, [&] { keep(load_system(catalogue(), "dgx1")); });
  report.time("read kernels.toml", Seconds(3e-3), kRuns, [&] { keep(kernel_constants()); });
  report.time("read one stack file", Seconds(300e-6), kRuns, [&] { keep(load_stack(catalogue().root, "pytorch-1.13")); });
}

}  // namespace

void bench_growth(Report& report) {
  steps(report);
  rings(report);
  nodes_of_many_gpus(report);
  build_zoo(report);
  read_files(report);
}

}  // namespace tbdsim::bench
