#include "model/stack/update_settings.hpp"

#include <fmt/format.h>

namespace tbdsim {

UpdateSettings read_update_settings(TomlTable table) {
  UpdateSettings settings;
  const std::string kind = table.text("kind");
  if (kind == "multi_tensor")
    settings.kind = UpdateKind::multi_tensor;
  else if (kind != "per_array")
    table.problem("kind", fmt::format("expected \"per_array\" or \"multi_tensor\", got \"{}\"", kind));
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
