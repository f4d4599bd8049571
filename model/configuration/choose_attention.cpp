#include "model/configuration/choose_attention.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/support/find_named.hpp"
#include "model/workload/op.hpp"
#include "model/workload/operators/operator_row.hpp"

namespace tbdsim {

Errors choose_attention(const PredictOptions& options, Stack& stack) {
  if (options.attention.empty()) return {};
  if (options.attention == "unfused") {
    stack.operators.attention.fused = false;
    return {};
  }
  if (const auto kernel = find_attention_kernel(options.attention == "cudnn" ? "cudnn-9" : options.attention)) {
    stack.operators.attention.fused = true;
    stack.operators.attention.kernel = *kernel;
    return {};
  }
  std::vector<std::string> known{"unfused"};
  for (const AttentionKernelInfo& row : attention_kernels()) known.emplace_back(row.name);
  return unknown_name("attention kernel", options.attention, known).value();
}

Errors check_attention(const PredictOptions& options, const OpGraph& graph) {
  if (options.attention.empty() || options.attention == "unfused") return {};
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
