#include "model/stack/exchange_settings.hpp"

namespace tbdsim {

ExchangeSettings read_exchange_settings(TomlTable table) {
  ExchangeSettings settings;
  settings.bucket = table.quantity<Bytes>("bucket", kNotNegative);
  settings.overlaps = table.boolean_or("overlaps_backward", true);
  settings.copies_all = table.boolean_or("copies_all_gradients", false);
  settings.first_bucket = table.quantity_if<Bytes>("first_bucket").value_or(Bytes(0.0));
  settings.amp_16_bit = table.boolean_or("amp_16_bit", false);
  settings.cycle = table.quantity_if<Seconds>("cycle").value_or(Seconds(0.0));
  if (table.has("launch")) settings.launch = table.text("launch");
  if (table.has("overlap_cost")) settings.overlap_cost = table.number("overlap_cost", kNotNegative);
  (void)table.text("source");
  table.finish();
  return settings;
}

}  // namespace tbdsim
