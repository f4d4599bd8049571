#pragma once
#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Constants of one kernel that works along rows, shared by all boards. The defaults are those of a kernel that only moves bytes.
struct RowConstants {
  Seconds start;             ///< beside the start of any kernel
  double share = 1.0;        ///< of the bandwidth that the board sustains
  double flight = 1e6;       ///< B a clock and multiprocessor that loads in flight allow: bytes in flight over latency
  double step_clocks = 0.0;  ///< of a block, for each step of its threads along a row
  double row_clocks = 0.0;   ///< of a block, for each row
};

/// Constants of an expert layer's grouped products, shared by all boards.
struct ExpertConstants {
  Seconds start;              ///< of all its kernels: routing, two products, activation, combination
  double share = 1.0;         ///< of the rate that products sustain
  double prologue = 200.0;    ///< k-steps of one feature that a tile costs to start and finish
  double tile_penalty = 1.4;  ///< loss of small tiles: 1 + penalty x (tm + tn) / (tm tn)
  double reread = 0.33;       ///< of an expert's weights by each further row of tiles, where they exceed the cache
  double activations = 1.0;   ///< bytes of activations moved, over those counted
};

/// Tables [row_kernel.NAME] and [experts.NAME] of hardware/kernels.toml.
[[nodiscard]] RowConstants read_row_constants(TomlTable table);
[[nodiscard]] ExpertConstants read_expert_constants(TomlTable table);

}  // namespace tbdsim
