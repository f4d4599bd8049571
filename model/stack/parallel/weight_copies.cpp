#include "model/stack/parallel/weight_copies.hpp"

namespace tbdsim {

WeightCopies read_weight_copies(TomlTable& table) {
  WeightCopies s;
  s.masters = table.boolean_or("masters", s.masters);
  s.casts_shards = table.boolean_or("casts_shards", s.casts_shards);
  s.gathers_8_bit = table.boolean_or("gathers_8_bit", s.gathers_8_bit);
  return s;
}

}  // namespace tbdsim
