#include "model/stack/rank_settings.hpp"

namespace tbdsim {

RankSettings read_rank_settings(TomlTable table) {
  RankSettings ranks;
  ranks.spread = table.number_or("spread", ranks.spread, kNotNegative);
  ranks.input_copy = table.quantity_if<BytesPerSecond>("input_copy").value_or(BytesPerSecond(0.0));
  (void)table.text("source");
  table.finish();
  return ranks;
}

}  // namespace tbdsim
