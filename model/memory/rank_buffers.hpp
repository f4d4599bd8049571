#pragma once
#include <span>
#include <vector>

#include "model/memory/lifetime.hpp"
#include "model/stack/exchange.hpp"
#include "model/stack/stack.hpp"

namespace tbdsim {

/// How a framework of the MXNet family rounds what it takes from the driver: up to 2 MiB to pages of 4 KiB, above to
/// 2 MiB. Source: requested and actual sizes of the allocation trace in
/// UofT-EcoSystem/MXNet-GPU_Memory_Profiler, benchmarks/saved_artifacts.
[[nodiscard]] Bytes driver_rounded(Bytes bytes);

/// What the driver sets aside for arrays that MXNet's pool asks for one by one, each with 32 bytes more than it needs:
/// large ones in units of 2 MiB, smaller ones side by side in slabs of 2 MiB.
/// Source: apache/mxnet 1.1.0 src/storage/pooled_storage_manager.h; memory as nvidia-smi shows it and the requests logged in
/// UofT-EcoSystem/sockeye, iwslt15-vi_en-tbd-memory_profile.log.
[[nodiscard]] Bytes driver_held(std::span<const Bytes> arrays);

/// What the update and the exchange of gradients hold on one rank, beside its own weights and gradients.
struct RankBuffers {
  Bytes optimizer_state, exchange;
  StoreArrays stored;  ///< what `exchange` is, under a store
};

/// What decides them.
struct ExchangeMemory {
  Exchange exchange = Exchange::allreduce;
  int ranks = 1;                  ///< of one node
  double optimizer_states = 1;    ///< of an array as it is exchanged, in its sizes
  std::span<const Bytes> arrays;  ///< parameter arrays as they are exchanged
  bool sharded = false;           ///< ZeRO 2, or FSDP beside a pipeline: gradients leave bucket by bucket, whatever the
                                  ///< stack does without
  bool workers_update = false;    ///< under `local`: an array is beyond what that store updates
};

/// Buffers of every rank of a node, GPU 0 first.
///
/// * `nccl` (MXNet): every key has its root on the first GPU: merged gradient, stored weight and optimiser state stand
///   there, none elsewhere.
/// * `p2p` (MXNet `device`): the largest array first goes to the GPU that has least; its home holds merged gradient,
///   stored weight, optimiser state and one copy of the gradient from every other GPU.
/// * `ps`, `ps-p3`: gradients are merged on the GPUs as above, unless the stack merges them on the host or the node has one GPU;
///   stored weights and state are the servers'.
/// * `local` (MXNet): all of it is the host's; with an array beyond `kLocalStoreUpdates` every GPU updates and has the state.
/// * `dataparallel` (PyTorch): one process updates on GPU 0, which alone has optimiser state.
/// * `allreduce`, `byteps`, `pipeline`: every rank updates, and stages gradients in buckets (PyTorch: of all of them, since DDP's
/// buckets
///   are no views of the gradients; Horovod: one fusion buffer).
///
/// Source: apache/mxnet 1.1.0 src/kvstore/comm.h and kvstore_nccl.h; pytorch/pytorch v1.13
/// torch/csrc/distributed/c10d/reducer.cpp; horovod docs, tensor fusion.
[[nodiscard]] std::vector<RankBuffers> rank_buffers(const Stack& stack, const ExchangeMemory& what);

}  // namespace tbdsim
