#include "model/prediction/precision_notices.hpp"

#include <algorithm>

namespace tbdsim {

std::vector<std::string> precision_notices(const OpGraph& graph, const KernelModel& kernels) {
  std::vector<std::string> notices;
  if (std::any_of(graph.ops.begin(), graph.ops.end(), [&](const Op& op) { return kernels.norms_batches_itself(op); }))
    notices.emplace_back(
        "PyTorch calls cuDNN's batch norm with fp32 weights alone; with 16-bit weights it runs slower kernels of its own "
        "(--precision amp keeps those weights in fp32)");
  if (kernels.tensor_core()) notices.emplace_back("few tensor-core samples stand behind this: the range is wide");
  return notices;
}

}  // namespace tbdsim
