#pragma once
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// Which kernels a recurrent layer runs.
enum class RecurrentKernels {
  library,  ///< cuDNN's (MIOpen's) layers: one call for all steps
  cells,    ///< cells of the framework's own operators, unrolled, each dispatched by the host
};

/// What a recurrent layer runs as.
struct RecurrentSettings {
  RecurrentKernels kernels = RecurrentKernels::library;
  bool persistent = false;  ///< 16-bit layers may keep their weights in registers (cuDNN's persistent kernels)
};

/// Its keys of a [operators] table.
[[nodiscard]] RecurrentSettings read_recurrent_settings(TomlTable& table);

}  // namespace tbdsim
