#pragma once
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// Which copies of the weights a divided network has.
struct WeightCopies {
  bool masters = false;        ///< 16 bits mean fp32 weights and states beside 16-bit ones
  bool casts_shards = false;   ///< of which the 16-bit ones are made where weights are gathered, and not kept
  bool gathers_8_bit = false;  ///< under fp8 weights are gathered in 8 bits
};

/// Its keys of a [parallel] table.
[[nodiscard]] WeightCopies read_weight_copies(TomlTable& table);

}  // namespace tbdsim
