#pragma once
#include <string>

#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// The compute capability that a key states, such as "7.5"; empty without it. Notes a text that is no such number.
[[nodiscard]] std::string read_capability(TomlTable& table, const std::string& key);

}  // namespace tbdsim
