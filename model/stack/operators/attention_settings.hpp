#pragma once
#include "model/input/toml_reader.hpp"
#include "model/stack/attention_kernel.hpp"

namespace tbdsim {

/// What an attention layer runs as.
struct AttentionSettings {
  bool fused = false;                                 ///< one kernel that keeps the scores on the chip; else operators apart
  AttentionKernel kernel = AttentionKernel::general;  ///< that kernel, where device and precision have it
};

/// Its keys of a [operators] table.
[[nodiscard]] AttentionSettings read_attention_settings(TomlTable& table);

}  // namespace tbdsim
