#include "model/stack/parallel/divided_update.hpp"

namespace tbdsim {

DividedUpdate read_divided_update(TomlTable& table) {
  DividedUpdate s;
  s.clips = table.boolean_or("clips", s.clips);
  s.moves = table.quantity_if<Bytes>("update_moves").value_or(s.moves);
  s.overlaps_gather = table.boolean_or("overlaps_parameters", s.overlaps_gather);
  s.broadcasts = table.boolean_or("broadcasts_parameters", s.broadcasts);
  return s;
}

}  // namespace tbdsim
