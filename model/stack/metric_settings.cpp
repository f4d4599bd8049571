#include "model/stack/metric_settings.hpp"

namespace tbdsim {

MetricSettings read_metric_settings(TomlTable table) {
  constexpr int kMost = 100;
  MetricSettings settings;
  settings.operators = static_cast<int>(table.integer("operators", 0, kMost));
  settings.copies = static_cast<int>(table.integer("copies", 0, kMost));
  (void)table.text("source");
  table.finish();
  return settings;
}

}  // namespace tbdsim
