#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim {

/// One setting of a framework's file, as it stands there.
struct Setting {
  std::string key;    ///< "tensor-model-parallel-size", "training.seq_len"
  std::string value;  ///< `true` of a flag without one; of several words the first
  SourceRef where;
};

inline constexpr std::size_t kLargestSettings = 8;  ///< MiB

/// All settings of the text of a file, by the ending of its name: .json and .toml, .yaml and .yml (maps alone), any other a shell
/// script, a line of arguments (`--key value`) or of overrides (`key=value`). Null and empty values are left out.
///
/// Of a script, variables and arrays are put in where it sets them; its branches are not followed: what any of them states is
/// read. Errors: mistakes of JSON and TOML with their place; no text; no settings.
[[nodiscard]] Result<std::vector<Setting>> read_settings(std::string text, const std::string& name);

}  // namespace tbdsim
