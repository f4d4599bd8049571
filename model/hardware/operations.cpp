#include "model/hardware/operations.hpp"

#include <algorithm>

#include "model/hardware/hardware_file.hpp"
#include "model/input/toml_reader.hpp"

namespace tbdsim {
namespace {

constexpr double kJoulesOfKilowattHour = 3.6e6;
constexpr Bounds kShare{0.0, 1.0, true};
// No building takes ten times the power of its machines; a kWh of lignite is some 1,200 g.
constexpr Bounds kPowerUsage{1.0, 10.0}, kGrams{0.0, 10000.0};

/// Bare numbers are refused by the other readers; grams have no type of their own, so the key names the unit.
CarbonIntensity read_intensity(TomlTable& table) {
  return {table.number("grams_per_kilowatt_hour", kGrams) / kJoulesOfKilowattHour};
}

Operations::Checkpoint read_checkpoint(TomlTable table) {
  Operations::Checkpoint checkpoint;
  checkpoint.node_write = table.quantity<BytesPerSecond>("node_write");
  checkpoint.node_read = table.quantity<BytesPerSecond>("node_read");
  checkpoint.stall = table.number("stall", {0.0, 1.0, false});
  checkpoint.per_parameter = table.quantity_if<Bytes>("per_parameter");
  checkpoint.interval = table.quantity_if<Seconds>("interval");
  checkpoint.source = table.text("source");
  return checkpoint;
}

}  // namespace

const SustainedPower* Operations::sustained_at(std::string_view precision) const {
  const auto found = std::find_if(sustained.begin(), sustained.end(), [&](const SustainedPower& row) {
    return std::find(row.precisions.begin(), row.precisions.end(), precision) != row.precisions.end();
  });
  return found == sustained.end() ? nullptr : &*found;
}

Result<Operations> load_operations(const Catalogue& catalogue) {
  auto file = TomlFile::open(catalogue.root + "/hardware/operations.toml");
  if (!file) return tl::make_unexpected(file.error());
  if (catalogue.edits) file->edit(*catalogue.edits, "operations");
  TomlTable root = file->root();
  (void)root.integer("schema", kHardwareSchema, kHardwareSchema);
  Operations operations;
  TomlTable failures = root.table("failures");
  operations.failures = {failures.quantity<Seconds>("gpu"), failures.quantity<Seconds>("node"), failures.text("source")};
  TomlTable restart = root.table("restart");
  operations.restart = {restart.quantity<Seconds>("time", kNotNegative), restart.text("source")};
  operations.checkpoint = read_checkpoint(root.table("checkpoint"));
  TomlTable storage = root.table("storage");
  operations.storage = {storage.quantity<BytesPerSecond>("bandwidth"), storage.text("source")};
  TomlTable repair = root.table("repair");
  operations.repair = {repair.quantity<Seconds>("time", kNotNegative), repair.text("source")};
  TomlTable energy = root.table("energy");
  operations.energy = {energy.number("pue", kPowerUsage), energy.text("source")};
  TomlTable carbon = root.table("carbon");
  operations.carbon = {read_intensity(carbon), carbon.text("source")};
  for (TomlTable& row : root.tables_or_empty("sustained"))
    operations.sustained.push_back({row.texts_or_empty("precisions"), row.number("share", kShare), row.text("source")});
  root.finish();
  if (!file->errors().empty()) return tl::make_unexpected(file->errors());
  return operations;
}

}  // namespace tbdsim
