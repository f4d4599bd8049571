#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "model/stack/framework.hpp"

namespace tbdsim {

/// How gradients move between the GPUs of a job, as `--exchange` names it. `allreduce`, the default of every stack, is first.
enum class Exchange { allreduce, nccl, p2p, local, ps, ps_p3, byteps, dataparallel };

/// Where something of an exchange is done.
enum class ExchangePlace {
  ranks,      ///< on every GPU alike
  first_gpu,  ///< on GPU 0 of the node, for all arrays
  home_gpus,  ///< on one GPU of the node for each array, its home
  host,       ///< in the memory of the node's host
  servers,    ///< in server processes beside the workers or on machines of their own
};

/// What an exchange keeps in the memory of GPUs beside the weights and gradients of each, by the rules of `rank_buffers`.
enum class ExchangeBuffers {
  buckets,      ///< gradients staged in buckets on every GPU
  root_store,   ///< merged gradient and stored weight of every array on the first GPU
  home_store,   ///< the same on the home of each array, with a copy of the gradient from every other GPU
  home_merges,  ///< merged gradients and those copies alone: weights are the servers'
  host_store,   ///< none: the host has them
  first_gpu,    ///< none: one process adds up in the gradients of its first GPU
};

/// One row of the table of exchanges.
struct ExchangeInfo {
  Exchange kind;
  std::string_view name;               ///< in JSON, in TOML and on the command line: "ps-p3"
  std::optional<Framework> framework;  ///< the only one that has it; absent: every one
  ExchangePlace sums;                  ///< who adds up the gradients of several nodes or, in stores of one, of its GPUs
  ExchangePlace updates;               ///< who has the optimiser's state and applies it
  ExchangeBuffers buffers;
  bool one_process;  ///< one process drives all GPUs of a node, else each has its own
  /// Parameter servers of MXNet (ps-lite over ZeroMQ) or TensorFlow (gRPC): they speak TCP, and a single GPU has one, too.
  /// BytePS is none of them: its servers speak RDMA, add up but update nothing, and one node runs without them.
  bool parameter_servers;
  bool host_sums;  ///< weights and sums of gradients lie in the memory of a node's host

  /// Whether every rank has whole weights and updates what a collective has summed: only then ZeRO can shard the state, and only
  /// so are gradients of divided networks exchanged.
  [[nodiscard]] constexpr bool collective() const { return sums == ExchangePlace::ranks && updates == ExchangePlace::ranks; }
  /// Whether it is MXNet's key-value store on GPUs, whose host times the stack's [store] states.
  [[nodiscard]] constexpr bool device_store() const {
    return buffers == ExchangeBuffers::root_store || buffers == ExchangeBuffers::home_store;
  }
};

/// Every exchange, in the order of their enumerators.
[[nodiscard]] std::span<const ExchangeInfo> exchanges();
[[nodiscard]] const ExchangeInfo& info(Exchange exchange);
[[nodiscard]] inline std::string_view name(Exchange exchange) { return info(exchange).name; }

/// The exchange of a user's word, compared without case and punctuation; nothing: there is none.
[[nodiscard]] std::optional<Exchange> parse_exchange(std::string_view word);

}  // namespace tbdsim
