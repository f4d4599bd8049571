#pragma once
#include <string_view>

#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Beside what gradients are copied to the host and updated weights back.
enum class OffloadOverlap {
  none,      ///< nothing
  backward,  ///< gradients beside the last backward pass; weights come after the host's update
  update,    ///< both beside the host's update, array by array
};

[[nodiscard]] std::string_view name(OffloadOverlap overlap);

/// What a framework can keep in the memory of the host, and what that costs. Default: nothing; figures of ZeRO-Offload
/// (arXiv:2101.06840).
struct OffloadSettings {
  bool states = false;       ///< fp32 weights and optimiser states, which the host updates
  bool weights = false;      ///< with them the divided weights, copied to the GPU before they are gathered, and their gradients
  bool parts = false;        ///< of the states, too; the rest is updated by the GPU
  bool activations = false;  ///< what layers keep for backward
  OffloadOverlap overlap = OffloadOverlap::backward;
  Bytes gradient{2.0}, weight{2.0};  ///< that travel for each parameter: to the host; back
  Bytes moves{30.0};  ///< in the host's memory, for each parameter: gradient, weight and two moments are read, all but the first
                      ///< and a 16-bit weight written
};

/// Its keys of a [parallel] table.
[[nodiscard]] OffloadSettings read_offload_settings(TomlTable& table);

}  // namespace tbdsim
