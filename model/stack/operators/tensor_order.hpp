#pragma once
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// In which order of their dimensions images and filters lie.
struct TensorOrder {
  bool channels_last = false;
  bool channels_last_in_16_bits = false;  ///< only there, and only around convolutions
  bool turns_filters = false;  ///< filters lie channels last, and every pass turns them around for the library (TensorFlow)
};

/// Its keys of a [operators] table.
[[nodiscard]] TensorOrder read_tensor_order(TomlTable& table);

}  // namespace tbdsim
