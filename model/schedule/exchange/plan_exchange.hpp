#pragma once
#include <memory>
#include <string>
#include <vector>

#include "model/cost/kernel_model.hpp"
#include "model/hardware/cluster.hpp"
#include "model/schedule/exchange/exchange_style.hpp"
#include "model/schedule/exchange/peer_copies.hpp"
#include "model/stack/exchange.hpp"
#include "model/stack/nccl.hpp"
#include "model/stack/stack.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

/// The ranks that exchange, and under what.
struct ExchangeSetting {
  const System& system;
  const std::vector<int>& devices;  ///< within each node
  int nodes = 1;
  const std::optional<Network>& network;
  const Stack& stack;
  const NcclLibrary& nccl;     ///< the stack's release
  const KernelModel& kernels;  ///< what a store's merges and updates take; must outlive the style
  double batch = 1;            ///< of one rank and micro-batch
  Bytes activation{4.0};       ///< of a number of a feature map
  int micro_batches = 1;       ///< before an update
  bool emulated = false;       ///< one machine's worker and server exchange over `network`, as two machines would
  Bytes gradients{0.0};        ///< of all parameters of one rank

  [[nodiscard]] int ranks() const { return static_cast<int>(devices.size()) * nodes; }
};

/// Host time of one array that a store updates, of which its own work takes `store`: at least as much as issuing the update
/// costs where the GPU does it.
[[nodiscard]] Seconds store_key_time(const ExchangeSetting& setting, Seconds store);

/// Host time of one array in the process that drives a node's GPUs, where MXNet gathers it from them and hands it back: none for
/// one GPU. The servers' workers do inside a node what the stores of one machine do: KVStoreDist is a KVStoreLocal, whose Push
/// calls Comm::Reduce and whose Pull calls Comm::Broadcast. In host memory (CommCPU) it issues the same copies as between GPUs
/// (CommDevice), so that the time fitted to the latter holds for both. Zero for other frameworks.
/// Source: Apache MXNet, src/kvstore/kvstore_dist.h, kvstore_local.h and comm.h.
[[nodiscard]] Seconds node_key_time(const ExchangeSetting& setting);

/// A style for one job, ready to lower a step with.
struct PlannedExchange {
  std::unique_ptr<ExchangeStyle> style;
  std::string kind, description;         ///< provenance: "fitted", "6 NVLink rings at 22.8 GB/s"
  std::vector<IndirectCopy> indirect{};  ///< of a store that copies from GPU to GPU
};

/// Plans `exchange`. Errors: as `check_exchange`, and of wires and sizes.
[[nodiscard]] Result<PlannedExchange> plan_exchange(Exchange exchange, const ExchangeSetting& setting);

/// Default between ranks: gradients are all-reduced in buckets (DDP, Horovod, replicated variables).
[[nodiscard]] Result<PlannedExchange> plan_bucketed_all_reduce(const ExchangeSetting& setting);
/// MXNet's key-value stores of one machine; with one GPU nothing is exchanged.
[[nodiscard]] Result<PlannedExchange> plan_p2p_store(const ExchangeSetting& setting);
[[nodiscard]] Result<PlannedExchange> plan_nccl_store(const ExchangeSetting& setting);
/// Everything adds up in host memory.
[[nodiscard]] Result<PlannedExchange> plan_local_store(const ExchangeSetting& setting);
/// PyTorch's nn.DataParallel: one process, weights and gradients through the first GPU.
[[nodiscard]] Result<PlannedExchange> plan_data_parallel(const ExchangeSetting& setting);

/// Parameter servers beside the workers, whole arrays in the order of readiness.
[[nodiscard]] Result<PlannedExchange> plan_parameter_server(const ExchangeSetting& setting);
/// The same with slices, front layers first (P3).
[[nodiscard]] Result<PlannedExchange> plan_p3(const ExchangeSetting& setting);
/// BytePS: sums on as many CPU machines as there are nodes; one node all-reduces.
[[nodiscard]] Result<PlannedExchange> plan_byteps(const ExchangeSetting& setting);

}  // namespace tbdsim
