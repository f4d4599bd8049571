#include "model/cost/attention_support.hpp"

#include <string>

#include "model/hardware/architecture.hpp"

namespace tbdsim {

bool has_attention_kernel(const Device& device, AttentionKernel kernel) {
  const AttentionKernelInfo& row = info(kernel);
  const int has = capability_number(device.compute_capability);
  return has >= capability_number(std::string(row.compute_capability)) &&
         (row.last_capability.empty() || has <= capability_number(std::string(row.last_capability)));
}

AttentionKernel attention_kernel_on(const Device& device, AttentionKernel kernel) {
  for (const AttentionKernel tried : {kernel, AttentionKernel::flash_2})
    if (has_attention_kernel(device, tried)) return tried;
  return AttentionKernel::general;
}

}  // namespace tbdsim
