#pragma once
#include <optional>

#include "model/input/toml_reader.hpp"
#include "model/stack/fp8_recipe.hpp"

namespace tbdsim {

/// How a framework trains with products of 8-bit numbers.
struct Fp8Settings {
  std::optional<Fp8Recipe> recipe;  ///< absent: the stack trains without
  bool compiles_casts = false;      ///< its casts are kernels of a compiler, whatever the other operators are
};

/// Its keys of an [operators] table; casts are a compiler's where kernels are, unless the file says otherwise.
[[nodiscard]] Fp8Settings read_fp8_settings(TomlTable& table, bool compiles_kernels);

}  // namespace tbdsim
