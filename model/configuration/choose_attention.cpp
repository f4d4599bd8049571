#include "model/configuration/choose_attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "model/configuration/option_table.hpp"
#include "model/cost/attention_support.hpp"
#include "model/support/find_named.hpp"
#include "model/workload/op.hpp"
#include "model/workload/operators/operator_row.hpp"

namespace tbdsim {
namespace {

constexpr std::string_view kUnfused = "unfused", kCudnn = "cudnn";

/// The kernel that `--attention` calls so on a device.
std::optional<AttentionKernel> kernel_of(const Device& device, std::string_view word) {
  if (word != kCudnn) return find_attention_kernel(word);
  return has_attention_kernel(device, AttentionKernel::cudnn_9) ? AttentionKernel::cudnn_9 : AttentionKernel::cudnn_9_ampere;
}

/// The words of `--attention` whose kernels a device has.
std::vector<std::string> words_on(const Device& device) {
  std::istringstream all{std::string(find_option("attention", kInRow)->words)};
  std::vector<std::string> words;
  for (std::string word; all >> word;)
    if (!lacks_attention(device, word)) words.push_back(word);
  return words;
}

}  // namespace

std::string_view attention_word(const Configuration& configuration) {
  const AttentionSettings& settings = configuration.stack.operators.attention;
  if (!settings.fused) return kUnfused;
  const AttentionKernel runs = attention_kernel_on(configuration.hardware().device, settings.kernel);
  return runs == AttentionKernel::cudnn_9 || runs == AttentionKernel::cudnn_9_ampere ? kCudnn : info(runs).name;
}

bool lacks_attention(const Device& device, std::string_view word) {
  const auto kernel = kernel_of(device, word);
  const bool known = capability_number(device.compute_capability) > 0 || device.vendor == Vendor::amd;
  return kernel && known && !has_attention_kernel(device, *kernel);
}

Errors choose_attention(const PredictOptions& options, Configuration& configuration) {
  if (options.attention.empty()) return {};
  const auto kernel = kernel_of(configuration.hardware().device, options.attention);
  if (!kernel && options.attention != kUnfused) {
    std::vector<std::string> known{std::string(kUnfused)};
    for (const AttentionKernelInfo& row : attention_kernels()) known.emplace_back(row.name);
    return unknown_name("attention kernel", options.attention, known).value();
  }
  const std::string_view own = attention_word(configuration);
  AttentionSettings& settings = configuration.stack.operators.attention;
  settings.fused = kernel.has_value();
  if (kernel) settings.kernel = *kernel;
  configuration.other_attention = attention_word(configuration) != own;
  const Device& device = configuration.hardware().device;
  if (lacks_attention(device, options.attention))
    return {{fmt::format("--attention {}: {} has no such kernel, which needs compute capability {}{}; it has {}",
                         options.attention, device.id, info(*kernel).compute_capability,
                         info(*kernel).last_capability.empty() ? "" : " and no later one", fmt::join(words_on(device), ", "))}};
  return {};
}

std::string attention_notice(const PredictOptions& options, const Configuration& configuration) {
  const OpGraph& graph = configuration.network_graph().graph;
  const Stack& stack = configuration.stack;
  if (!options.attention.empty() || !graph.later_calls_attention || !stack.operators.attention.fused) return {};
  if (stack.framework != Framework::pytorch) return {};
  return fmt::format(
      "{} computes attention as products, mask and softmax apart, as early releases of its code; --attention {} takes one "
      "kernel, as later ones do",
      graph.name, attention_word(configuration));
}

Errors check_attention(const PredictOptions& options, const OpGraph& graph) {
  if (options.attention.empty() || options.attention == kUnfused) return {};
  const auto has = [&](auto kind) { return std::any_of(graph.ops.begin(), graph.ops.end(), kind); };
  if (has([](const Op& op) { return op.kind == OpKind::attention; })) return {};
  const bool written_out = has([](const Op& op) { return info(op.kind).multiplies_activations; });
  return {{fmt::format("--attention {}: {}", options.attention,
                       written_out ? fmt::format("the code of {} writes attention out as products, mask and softmax and "
                                                 "calls no such kernel; leave it out, or say unfused",
                                                 graph.name)
                                   : fmt::format("{} has no attention; leave it out", graph.name))}};
}

}  // namespace tbdsim
