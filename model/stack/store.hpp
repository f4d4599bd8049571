#pragma once
#include <string>

#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Way of a copy between GPUs that no link joins.
enum class UnlinkedRoute {
  host,    ///< through host memory, as CUDA copies between devices without peer access
  two_hop  ///< through a GPU that is linked to both
};

/// MXNet's key-value stores of one machine: every parameter array is a key.
struct StoreSettings {
  UnlinkedRoute unlinked = UnlinkedRoute::host;
  int copy_workers = 2;     ///< threads that serve the copies of one source GPU; each waits for its copy
  int keys_per_group = 16;  ///< that the nccl store reduces and broadcasts together
  // Of the process that drives several GPUs, added to the step; an array costs at least what issuing its update does.
  Seconds p2p_key;       ///< per key: merge and sum
  Seconds p2p_key_peer;  ///< per key and further GPU: issue of two copies, wait, callback
  Seconds nccl_key_gpu;  ///< per key and GPU: a reduce and a broadcast launched from one thread
  // Empirical; 1 where nothing is known.
  /// Of kernels, of the host time that issues them and of decoding, while the nccl store is in use. Its collectives and host time
  /// per key were fitted as they are.
  double nccl_slowdown = 1.0;
  double nccl_decode_share = 1.0;  ///< of the input's threads that is left to decode meanwhile
  std::string source, nccl_source;
};

/// `[store]` and `[nccl_store]` of a stack file, both optional.
[[nodiscard]] StoreSettings read_store_settings(TomlTable& root);

}  // namespace tbdsim
