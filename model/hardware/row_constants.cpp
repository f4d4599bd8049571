#include "model/hardware/row_constants.hpp"

namespace tbdsim {

RowConstants read_row_constants(TomlTable table) {
  RowConstants constants;
  constants.start = table.quantity<Seconds>("start", kNotNegative);
  constants.share = table.number_or("share", constants.share, kPositive);
  constants.flight = table.number_or("flight", constants.flight, kPositive);
  constants.step_clocks = table.number_or("step_clocks", constants.step_clocks, kNotNegative);
  constants.row_clocks = table.number_or("row_clocks", constants.row_clocks, kNotNegative);
  (void)table.text("source");
  table.finish();
  return constants;
}

ExpertConstants read_expert_constants(TomlTable table) {
  ExpertConstants constants;
  constants.start = table.quantity<Seconds>("start", kNotNegative);
  constants.share = table.number("share", kPositive);
  constants.prologue = table.number("prologue", kNotNegative);
  constants.tile_penalty = table.number("tile_penalty", kNotNegative);
  constants.reread = table.number("reread", kNotNegative);
  constants.activations = table.number("activations", kPositive);
  (void)table.text("source");
  table.finish();
  return constants;
}

}  // namespace tbdsim
