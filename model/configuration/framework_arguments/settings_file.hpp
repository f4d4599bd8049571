#pragma once
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

/// All settings of a file, by its ending: .json and .toml, .yaml and .yml (maps alone), any other a shell script, a line of
/// arguments (`--key value`) or of overrides (`key=value`). Null and empty values are left out.
///
/// Of a script, variables and arrays are put in where it sets them; its branches are not followed: what any of them states is
/// read. Errors: a file that cannot be read; mistakes of JSON and TOML with their place; a file without settings.
[[nodiscard]] Result<std::vector<Setting>> read_settings(const std::string& path);

/// The same of a text, which messages call `name`.
[[nodiscard]] Result<std::vector<Setting>> read_settings(std::string text, const std::string& name);

}  // namespace tbdsim
