#pragma once
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// In which order of their dimensions images and filters lie.
struct TensorOrder {
  bool channels_last = false;
  bool turns_filters = false;  ///< filters lie channels last, and every pass turns them around for the library (TensorFlow)
};

/// Its keys of a [operators] table.
[[nodiscard]] TensorOrder read_tensor_order(TomlTable& table);

}  // namespace tbdsim
