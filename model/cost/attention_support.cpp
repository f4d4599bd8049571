#include "model/cost/attention_support.hpp"

#include <string>

#include "model/hardware/architecture.hpp"

namespace tbdsim {

bool has_attention_kernel(const Device& device, AttentionKernel kernel) {
  return capability_number(device.compute_capability) >= capability_number(std::string(info(kernel).compute_capability));
}

AttentionKernel attention_kernel_on(const Device& device, AttentionKernel kernel) {
  for (const AttentionKernel tried : {kernel, AttentionKernel::flash_2})
    if (has_attention_kernel(device, tried)) return tried;
  return AttentionKernel::general;
}

}  // namespace tbdsim
