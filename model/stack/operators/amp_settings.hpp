#pragma once
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// Which numbers have 16 bits in mixed precision.
struct AmpSettings {
  bool all_16_bit = false;       ///< all runs in 16 bits but loss and update (apex O2); else some operators between casts
  bool copies_promoted = false;  ///< a narrow operand of a wide sum or product is cast by a kernel of its own (apex O1)
  bool narrow_norms = false;     ///< layer norms cast what they read to 16 bits (apex's under autocast); else they run in fp32
};

/// Its keys of a [operators] table.
[[nodiscard]] AmpSettings read_amp_settings(TomlTable& table);

}  // namespace tbdsim
