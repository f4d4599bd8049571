#include "model/stack/parallel/shard_settings.hpp"

namespace tbdsim {

ShardSettings read_shard_settings(TomlTable& table) {
  ShardSettings s;
  s.zero = static_cast<int>(table.integer_or("zero", s.zero, 0, 3));
  s.ranks = static_cast<int>(table.integer_or("shard_ranks", s.ranks, 1, 1000000));
  s.beside_stages = table.boolean_or("shards_stages", s.beside_stages);
  s.units = table.boolean_or("shards_units", s.units);
  s.copies = table.boolean_or("copies_units", s.copies);
  s.most_zero = static_cast<int>(table.integer_or("most_zero", s.most_zero, 0, 3));
  return s;
}

}  // namespace tbdsim
