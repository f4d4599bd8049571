#include "model/prediction/divided_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/prediction/kernel_character.hpp"

namespace tbdsim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// How often a rank runs a layer of each class in a step.
std::vector<double> runs_of_classes(const DividedParts& parts, const RankStep& rank) {
  std::vector<double> runs(parts.layers.classes(), 0.0);
  for (const auto& [chunk, micro_batches] : rank.runs)
    for (std::size_t layer = parts.first_layer[at(chunk)]; layer < parts.first_layer[at(chunk) + 1]; ++layer)
      runs[at(parts.layers.class_of[layer])] += micro_batches;
  return runs;
}

KernelTime kernel_of(const DividedParts& parts, const OperatorTime& one, const NodeCost& cost, double runs) {
  const Device& device = parts.configuration.hardware().device;
  const Op& op = parts.graph.op(one.op);
  KernelTime kernel;
  kernel.layer = op.name;
  kernel.pass = one.pass;
  kernel.name = fmt::format("{} {}{}", info(op.kind).name, name(one.pass), one.again ? " again" : "");
  kernel.algorithm = cost.algorithm ? name(*cost.algorithm) : cost.family ? name(*cost.family) : "none";
  kernel.bound = cost.kernel.bound == Bound::compute ? "compute" : cost.kernel.bound == Bound::memory ? "memory" : "launch";
  kernel.launches = static_cast<std::int64_t>(runs);
  kernel.time = runs * cost.kernel.time;
  kernel.flop = runs * cost.kernel.flop;
  kernel.bytes = runs * cost.kernel.bytes;
  kernel.fp32_utilization = cost.kernel.executing / cost.kernel.time;
  kernel.useful_utilization = cost.kernel.flop / ((cost.tensor_core ? parts.model.peak() : device.peak.fp32) * cost.kernel.time);
  const KernelCharacter character =
      characterize(parts.graph, {one.pass, one.op, {}, 0}, cost, static_cast<double>(parts.configuration.batch), device);
  kernel.occupancy = character.occupancy;
  kernel.stalls = character.stalls;
  kernel.stall = name(largest_stall(character.stalls));
  return kernel;
}

/// A kernel that only moves what is in memory.
KernelTime mover(std::string name, std::string layer, Pass pass, std::int64_t launches, Seconds time) {
  KernelTime kernel;
  kernel.name = std::move(name);
  kernel.layer = std::move(layer);
  kernel.algorithm = tbdsim::name(KernelFamily::memory_bound);
  kernel.bound = "memory";
  kernel.pass = pass;
  kernel.launches = launches;
  kernel.time = time;
  kernel.occupancy = 1.0;
  kernel.stalls[static_cast<std::size_t>(Stall::memory_dependency)] = 1.0;
  kernel.stall = tbdsim::name(Stall::memory_dependency);
  return kernel;
}

}  // namespace

RankWork rank_work(const DividedParts& parts, const RankStep& rank) {
  RankWork work;
  const std::vector<double> runs = runs_of_classes(parts, rank);
  std::int64_t forward = 0, backward = 0;
  Seconds listed(0.0);
  for (std::size_t i = 0; i < parts.costs.size(); ++i) {
    for (const OperatorTime& one : parts.costs[i].operators) {
      if (runs[i] <= 0.0) continue;
      (one.pass == Pass::forward && !one.again ? forward : backward) += static_cast<std::int64_t>(runs[i]);
      if (!one.cost) continue;
      work.kernels.push_back(kernel_of(parts, one, parts.costs[i].costs[*one.cost], runs[i]));
      listed += work.kernels.back().time;
    }
  }
  const auto micro_batches = static_cast<std::int64_t>(parts.configuration.accumulate);
  const Seconds rest = rank.forward.kernels + rank.backward.kernels - listed;
  if (rest > 1e-9 * rank.backward.kernels)
    work.kernels.push_back(mover("sums of gradients, delays", "all arrays", Pass::backward, micro_batches, rest));
  if (rank.update > Seconds(0.0)) work.kernels.push_back(mover("update", "all arrays", Pass::update, 1, rank.update));
  work.host.push_back({"host thread", "forward issued", forward, rank.forward.issue});
  work.host.push_back({"host thread", "backward issued", backward, rank.backward.issue});
  return work;
}

}  // namespace tbdsim
