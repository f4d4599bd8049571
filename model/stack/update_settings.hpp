#pragma once
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// How arrays are updated.
enum class UpdateKind {
  per_array,     ///< one chain of kernels per parameter array
  multi_tensor,  ///< few kernels over all arrays
};

/// Where the host waits for the device before it goes on with the update.
enum class UpdateWait {
  never,
  once,        ///< before it: the loss scale is checked for an overflow (mixed precision)
  each_array,  ///< at every array: a script's loop reads a norm back
};

/// How a framework's optimisers run.
struct UpdateSettings {
  UpdateKind kind = UpdateKind::per_array;
  int kernels_per_array = 1;
  bool fuses_loops = false;             ///< optimisers that scripts write as loops over arrays are multi-tensor kernels too
  bool checks_overflow = false;         ///< mixed precision reads back whether a gradient overflowed before it updates
  UpdateWait wait = UpdateWait::never;  ///< of the configured run, not of the file
  double passes_sgd_momentum = 5;       ///< reads and writes of P floats: w, g, m read; w, m written
  double extra_passes = 0;              ///< copies the framework adds (MXNet's key-value store: 2)
  double gradient_passes = 0;           ///< over each array as its gradient is made: zeros written, gradient added to them
  int gradient_kernels = 0;             ///< that make these passes, for each array
};

/// Reads an [update] table.
[[nodiscard]] UpdateSettings read_update_settings(TomlTable table);

}  // namespace tbdsim
