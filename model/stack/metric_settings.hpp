#pragma once
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// What a framework's training loop does with every batch to tell how well it learns (MXNet's `update_metric`). Absent from
/// a stack: its loop evaluates nothing, or not in every step.
struct MetricSettings {
  int operators = 0;  ///< over the outputs, on the GPU
  int copies = 0;     ///< of results to host memory, for each of which the script waits
};

/// Reads a [metric] table.
[[nodiscard]] MetricSettings read_metric_settings(TomlTable table);

}  // namespace tbdsim
