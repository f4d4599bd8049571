#pragma once
#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// What several ranks wait for that one rank does not.
struct RankSettings {
  /// Standard deviation of a rank's compute time, relative: boards, clocks and hosts differ. Default: fitted, the common
  /// order of published scaling tables of 2016-2020 (0.003 in one process to 0.023 over cloud machines).
  double spread = 0.01;
  BytesPerSecond input_copy;  ///< one thread copies a node's samples to its GPUs, one after the other; 0: none does
};

/// Reads a [ranks] table.
[[nodiscard]] RankSettings read_rank_settings(TomlTable table);

}  // namespace tbdsim
