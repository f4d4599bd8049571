#pragma once
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// What a framework and the libraries for it can do, where it matters to the models. Absent from a stack: nothing of it.
struct FrameworkFeatures {
  bool amp = false;                   ///< trains in mixed precision by itself
  bool casts_weights = false;         ///< under amp 16-bit copies of weights last only while a step needs them (autocast)
  bool byte_states = false;           ///< there are optimisers whose states have 8 bits
  bool shards_states = false;         ///< ranks may divide the optimiser's state, gradients and weights (ZeRO)
  bool gradients_from_start = false;  ///< gradients exist before the first backward pass
  bool loader_per_rank = false;       ///< every rank of a node loads for itself; else one set of threads feeds all its GPUs
};

/// Reads a [features] table.
[[nodiscard]] FrameworkFeatures read_framework_features(TomlTable table);

}  // namespace tbdsim
