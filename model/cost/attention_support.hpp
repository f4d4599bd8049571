#pragma once
#include "model/hardware/device.hpp"
#include "model/stack/attention_kernel.hpp"

namespace tbdsim {

/// Whether the device has the kernel, by the least and the most compute capability of its row.
[[nodiscard]] bool has_attention_kernel(const Device& device, AttentionKernel kernel);

/// The kernel that runs in its place on a device that lacks it: FlashAttention 2, else the general one.
/// Source: TransformerEngine, pytorch/attention.py: "Select FusedAttention on sm90 and FlashAttention on others for performance".
[[nodiscard]] AttentionKernel attention_kernel_on(const Device& device, AttentionKernel kernel);

}  // namespace tbdsim
