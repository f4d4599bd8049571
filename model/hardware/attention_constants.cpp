#include "model/hardware/attention_constants.hpp"

#include <fmt/format.h>

#include "model/hardware/constant_bounds.hpp"

namespace tbdsim {
namespace {

double bounded(TomlTable& table, std::string_view key, double otherwise) {
  const double value = table.number_or(key, otherwise, kNotNegative);
  const ConstantBounds& bounds = constant_bounds(fmt::format("attention {}", key));
  if (table.has(key) && (value < bounds.low || value > bounds.high))
    table.problem(key, fmt::format("{:g} lies outside {:g} to {:g}: {}", value, bounds.low, bounds.high, bounds.reason));
  return value;
}

AttentionPass read_pass(TomlTable& table) {
  AttentionPass pass;
  pass.share = bounded(table, "share", pass.share);
  pass.share_8_bit = bounded(table, "share_8_bit", pass.share_8_bit);
  pass.prologue = bounded(table, "prologue", pass.prologue);
  pass.tail = bounded(table, "tail", pass.tail);
  return pass;
}

}  // namespace

AttentionConstants read_attention_constants(TomlTable table) {
  AttentionConstants constants;
  constants.forward = constants.backward = read_pass(table);
  constants.few_blocks = bounded(table, "few_blocks", constants.few_blocks);
  constants.wide = bounded(table, "wide", constants.wide);
  constants.window = bounded(table, "window", constants.window);
  constants.split = bounded(table, "split", constants.split);
  constants.start = table.quantity_if<Seconds>("start", kNotNegative).value_or(constants.start);
  constants.start_per_doubling =
      table.quantity_if<Seconds>("start_per_doubling", kNotNegative).value_or(constants.start_per_doubling);
  if (auto backward = table.table_if("backward")) {
    constants.backward = read_pass(*backward);
    backward->finish();
  }
  (void)table.text("source");
  table.finish();
  return constants;
}

}  // namespace tbdsim
