#include "model/stack/operators/fp8_settings.hpp"

#include "model/input/known_word.hpp"

namespace tbdsim {

Fp8Settings read_fp8_settings(TomlTable& table, bool compiles_kernels) {
  Fp8Settings s;
  s.compiles_casts = table.boolean_or("compiles_casts", compiles_kernels);
  if (table.has("fp8_recipe")) {
    s.recipe = read_row(table, "fp8_recipe", fp8_recipes(), "recipe");
  } else if (table.has("compiles_casts")) {
    table.problem("compiles_casts", "has no effect without fp8_recipe");
  }
  return s;
}

}  // namespace tbdsim
