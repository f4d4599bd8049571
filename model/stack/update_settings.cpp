#include "model/stack/update_settings.hpp"

#include <array>
#include <string_view>

#include "model/input/known_word.hpp"

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 2> kKinds{"per_array", "multi_tensor"};

}  // namespace

UpdateSettings read_update_settings(TomlTable table) {
  UpdateSettings settings;
  settings.kind = read_word<UpdateKind>(table, "kind", kKinds, "kind of update").value_or(settings.kind);
  settings.kernels_per_array = static_cast<int>(table.integer("kernels_per_array", 1, 16));
  settings.passes_sgd_momentum = table.number("passes_sgd_momentum", kPositive);
  settings.fuses_loops = table.boolean_or("fuses_loops", false);
  settings.checks_overflow = table.boolean_or("checks_overflow", false);
  settings.extra_passes = table.number_or("extra_passes", 0, kNotNegative);
  settings.gradient_passes = table.number_or("gradient_passes", 0, kNotNegative);
  table.mark("gradient_kernels");
  settings.gradient_kernels = settings.gradient_passes > 0 ? static_cast<int>(table.integer("gradient_kernels", 1, 16)) : 0;
  (void)table.text("source");
  table.finish();
  return settings;
}

}  // namespace tbdsim
