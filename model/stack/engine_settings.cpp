#include "model/stack/engine_settings.hpp"

namespace tbdsim {

EngineSettings read_engine_settings(TomlTable table) {
  constexpr int kMostOperators = 10000;
  EngineSettings settings;
  settings.operation = table.quantity<Seconds>("operation", kNotNegative);
  settings.operators = static_cast<int>(table.integer("operators", 1, kMostOperators));
  settings.stops_at_arrays = table.boolean_or("stops_at_arrays", true);
  (void)table.text("source");
  table.finish();
  return settings;
}

}  // namespace tbdsim
