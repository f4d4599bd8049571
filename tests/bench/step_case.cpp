#include "tests/bench/step_case.hpp"
#include "tests/architectures.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <numeric>

#include "model/workload/zoo/zoo.hpp"

namespace tbdsim::bench {

namespace {

template <class T>
T need(Result<T> result) {
  if (result) return std::move(*result);
  for (const Error& error : result.error()) fmt::print(stderr, "{}\n", error.message);
  std::exit(2);
}

}  // namespace

Catalogue catalogue() { return {TBDSIM_SOURCE_DIR}; }

KernelConstants kernel_constants() {
  return need(read_kernel_constants(catalogue().root + "/hardware/kernels.toml", all_architectures()));
}

StepCase dgx1_step(const std::string& network, int ranks) {
  System system = need(load_system(catalogue(), "dgx1"));
  Stack stack = need(load_stack(catalogue().root, "pytorch-1.13"));
  KernelModel kernels = need(KernelModel::make(system.device, Precision::fp32, stack, kernel_constants()));
  const ZooEntry* entry = need(find_network(network, "torchvision"));
  OpGraph graph = need(entry->build(*entry, {}));
  TrainingStep step = training_step(graph);
  std::vector<int> devices(static_cast<std::size_t>(ranks));
  std::iota(devices.begin(), devices.end(), 0);
  CollectivePlan exchange = need(plan_collective(system, {devices, 1, std::nullopt}, CollectiveKind::all_reduce, {}));
  return {std::move(system), std::move(stack), std::move(kernels), std::move(graph), std::move(step), std::move(exchange)};
}

}  // namespace tbdsim::bench
