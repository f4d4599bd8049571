#pragma once
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// How copies of a network divide weights, gradients and states (ZeRO).
struct ShardSettings {
  int zero = 0;                ///< stage of sharding where none is asked for
  int ranks = 0;               ///< next to each other, over which `zero` divides; 0: all copies
  bool beside_stages = false;  ///< weights may be sharded beside a pipeline
  int most_zero = 3;           ///< stage that it has; what `plan` searches
  bool units = false;          ///< whole layers are gathered and their gradients divided from stage 2 on, which keeps them
                               ///< gathered from forward to backward; states alone are never divided (FSDP)
  bool copies = false;         ///< kernels copy gathered arrays to their places, and gradients into the call that divides them
};

/// Its keys of a [parallel] table.
[[nodiscard]] ShardSettings read_shard_settings(TomlTable& table);

}  // namespace tbdsim
