#include "model/prediction/precision_notices.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <utility>

namespace tbdsim {
namespace {

/// Kinds of kernels that run on tensor cores in this step and of which the board has no samples, as people name them.
std::vector<std::string_view> unsampled(const KernelModel& kernels, std::span<const NodeCost> costs) {
  constexpr std::array<std::pair<KernelFamily, std::string_view>, 5> kOnTensorCores{
      {{KernelFamily::convolution, "convolutions"},
       {KernelFamily::gemm, "matrix products"},
       {KernelFamily::attention, "attention"},
       {KernelFamily::recurrent, "recurrent layers"},
       {KernelFamily::experts, "experts"}}};
  std::vector<std::string_view> names;
  for (const auto& [family, words] : kOnTensorCores) {
    const auto runs = [family = family](const NodeCost& cost) { return cost.tensor_core && cost.family == family; };
    if (kernels.parameters_of(family).transferred && std::any_of(costs.begin(), costs.end(), runs)) names.push_back(words);
  }
  return names;
}

}  // namespace

std::vector<std::string> precision_notices(const OpGraph& graph, const KernelModel& kernels, std::span<const NodeCost> costs) {
  std::vector<std::string> notices;
  if (std::any_of(graph.ops.begin(), graph.ops.end(), [&](const Op& op) { return kernels.norms_batches_itself(op); }))
    notices.emplace_back(
        "PyTorch calls cuDNN's batch norm with fp32 weights alone; with 16-bit weights it runs slower kernels of its own "
        "(--precision amp keeps those weights in fp32)");
  if (!kernels.tensor_core()) return notices;
  if (const auto names = unsampled(kernels, costs); !names.empty())
    notices.push_back(fmt::format(
        "no samples stand behind {} on this GPU's tensor cores: rates are those of related kernels, the range is wider",
        fmt::join(names, ", ")));
  return notices;
}

}  // namespace tbdsim
