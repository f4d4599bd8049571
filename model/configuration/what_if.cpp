#include "model/configuration/what_if.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/configuration/factor.hpp"
#include "model/support/find_named.hpp"

namespace tbdsim {

// Long because this is the table of changes.
const std::vector<WhatIf>& what_ifs() {
  static const std::vector<WhatIf> kWhatIfs{
      {"amp", "mixed precision", {"parallel.precision=amp"}, {}, true},
      {"batch-2x", "twice the batch per GPU", {"parallel.batch=2x"}},
      {"batch-half", "half the batch per GPU", {"parallel.batch=0.5x"}},
      {"micro-batches-2x", "twice as many micro-batches per update", {"parallel.accumulate=2x"}},
      {"gpus-2x",
       "twice as many GPUs",
       {"parallel.gpus=2x"},
       // More GPUs divide what lies on hosts, and more nodes have more of their memory.
       {Resource::gpu_compute, Resource::gpu_memory_bandwidth, Resource::host, Resource::host_link,
        Resource::host_memory_bandwidth},
       false,
       true},
      {"compute-2x",
       "GPUs of twice the peak rate",
       {"hw.device.peak_fp32=2x", "hw.device.peak_fp32_tensor?=2x", "hw.device.peak_tf32_tensor?=2x",
        "hw.device.peak_fp16_tensor?=2x", "hw.device.peak_bf16_tensor?=2x", "hw.device.peak_fp8_tensor?=2x",
        "hw.device.peak_fp16_vector?=2x",
        // More lanes under the same limit would run at a lower clock.
        "hw.device.power_limit?=2x"},
       {Resource::gpu_compute}},
      {"gpu-memory-bandwidth-2x",
       "GPU memory twice as fast",
       {"hw.device.memory_bandwidth=2x"},
       {Resource::gpu_memory_bandwidth}},
      {"gpu-memory-2x", "GPUs with twice the memory", {"hw.device.memory_capacity=2x"}, {Resource::memory}},
      {"nvlink-2x", "NVLink twice as fast", {"hw.link.nvlink.bandwidth=2x"}, {Resource::intra_node_link}},
      {"pcie-2x",
       "PCIe twice as fast",
       {"hw.link.pcie.bandwidth=2x"},
       {Resource::intra_node_link, Resource::host_link, Resource::input, Resource::network}},
      {"network-2x", "network between nodes twice as fast", {"network.bandwidth=2x"}, {Resource::network}},
      {"rdma",
       "network adapters that write to memory themselves (RDMA)",
       {"network.rdma=true"},
       {Resource::network, Resource::host}},
      {"host-2x",
       "host issues operators twice as fast",
       {"stack.host.dispatch=0.5x", "stack.host.update_dispatch=0.5x", "stack.engine.operation?=0.5x"}},
      {"no-launch-cost",
       "operators issued at no cost",
       {"stack.host.dispatch=0x", "stack.host.update_dispatch=0x", "stack.engine.operation?=0x"}},
      {"cpu-2x",
       "processors of twice the clock",
       {"hw.host.clock?=2x", "stack.host.dispatch=0.5x", "stack.host.update_dispatch=0.5x", "stack.engine.operation?=0.5x",
        "stack.parameter_server.sum?=2x", "stack.parameter_server.update?=2x", "stack.parameter_server.message?=0.5x",
        "stack.store.p2p_key?=0.5x", "stack.store.p2p_key_peer?=0.5x", "stack.store.nccl_key_gpu?=0.5x"},
       {Resource::host, Resource::input}},
      {"cpu-half",
       "processors of half the clock",
       {"hw.host.clock?=0.5x", "stack.host.dispatch=2x", "stack.host.update_dispatch=2x", "stack.engine.operation?=2x",
        "stack.parameter_server.sum?=0.5x", "stack.parameter_server.update?=0.5x", "stack.parameter_server.message?=2x",
        "stack.store.p2p_key?=2x", "stack.store.p2p_key_peer?=2x", "stack.store.nccl_key_gpu?=2x"},
       {Resource::host, Resource::input}},
      {"cores-2x", "twice as many processor cores", {"hw.host.cores=2x"}, {Resource::input}},
      {"cores-half", "half as many processor cores", {"hw.host.cores=0.5x"}, {Resource::input}},
      {"host-memory-bandwidth-2x",
       "host memory twice as fast",
       {"hw.host.dram_bandwidth?=2x"},
       // Copies of an offload go through it, too.
       {Resource::host_memory_bandwidth, Resource::host_link}},
      {"samples-on-nvme", "samples read from NVMe flash", {"parallel.storage=nvme-pcie-3.0-x4"}, {Resource::input}},
      {"samples-in-memory", "encoded samples kept in host memory", {"parallel.storage=page-cache"}},
      {"input-hosts", "samples prepared on another machine, sent over the network", {"parallel.input_hosts=1"}},
      {"pageable-input", "batches in pageable memory, copied before each step", {"stack.input.pinned=false"}},
      {"input-copy-overlap", "batches copied beside the step before", {"stack.input.copy_overlaps=true"}},
      // One kernel reads weight, gradient and momentum and writes weight and momentum: 5 passes (NVIDIA apex, multi_tensor_sgd).
      {"fused-optimizer",
       "one update kernel for many arrays",
       {"stack.update.kind=multi_tensor", "stack.update.kernels_per_array=1", "stack.update.passes_sgd_momentum=5",
        "stack.update.fuses_loops=true", "stack.memory.adam_arrays=0"}},
      {"fused-batch-norm-relu", "batch norm and ReLU in one kernel", {"stack.operators.fuses_batch_norm_relu=true"}},
      {"fused-elementwise", "chains of element-wise operators fused", {"stack.operators.fuses_elementwise=true"}},
      {"inplace-activation", "activations overwrite their input", {"stack.operators.inplace_activation=true"}},
      {"workers-2x", "twice as many threads or processes that load samples", {"parallel.workers=2x"}},
      {"channels-last", "convolutions of channels-last arrays", {"stack.operators.channels_last=true"}},
      {"all-reduce", "gradients exchanged by all-reduce", {"parallel.exchange=allreduce"}},
      {"nccl-store", "gradients exchanged by MXNet's NCCL store", {"parallel.exchange=nccl"}},
      {"p2p-store", "gradients exchanged by MXNet's device store (P2P)", {"parallel.exchange=p2p"}},
      {"parameter-server", "gradients exchanged through parameter servers", {"parallel.exchange=ps"}},
      {"p3", "parameter servers with slices sent by priority (P3)", {"parallel.exchange=ps-p3"}},
      {"no-overlap", "gradients exchanged after the backward pass", {"stack.exchange.overlaps_backward=false"}},
      {"overlap", "gradients exchanged during the backward pass", {"stack.exchange.overlaps_backward=true"}},
  };
  return kWhatIfs;
}

namespace {

/// KEY=VALUE or KEY?=VALUE in two.
std::pair<std::string, std::string> split_assignment(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  std::string key = text.substr(0, equals);
  if (!key.empty() && key.back() == '?') key.pop_back();
  return {std::move(key), text.substr(std::min(equals + 1, text.size()))};
}

/// Who set it, for a message: a named change or the assignment itself.
std::string origin(const std::string& assignment) {
  std::vector<std::string> names;
  for (const WhatIf& what_if : what_ifs())
    if (std::find(what_if.set.begin(), what_if.set.end(), assignment) != what_if.set.end()) names.push_back(what_if.name);
  return names.size() == 1 ? fmt::format("{} ({})", assignment, names.front()) : assignment;
}

}  // namespace

bool is_named_change(const std::string& assignment) {
  return std::any_of(what_ifs().begin(), what_ifs().end(),
                     [&](const WhatIf& what_if) { return what_if.set == std::vector{assignment}; });
}

std::string contradiction(const std::vector<std::string>& set, const std::string& assignment) {
  const auto [key, value] = split_assignment(assignment);
  const auto factor = factor_of(value);
  for (const std::string& earlier : set) {
    const auto [other_key, other_value] = split_assignment(earlier);
    if (other_key != key) continue;
    const auto other = factor_of(other_value);
    const bool undoes = factor && other && *factor * *other == 1.0 && *factor != 1.0;
    if (undoes) return fmt::format("{} undoes {}; give one of them", origin(assignment), origin(earlier));
    if (!factor && other_value != value)
      return fmt::format("{} contradicts {}; give one of them", origin(assignment), origin(earlier));
  }
  return {};
}

Result<WhatIf> find_what_if(const std::string& name) { return find_named(what_ifs(), "what-if", name); }

}  // namespace tbdsim
