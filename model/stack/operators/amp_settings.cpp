#include "model/stack/operators/amp_settings.hpp"

namespace tbdsim {

AmpSettings read_amp_settings(TomlTable& table) {
  AmpSettings s;
  s.all_16_bit = table.boolean_or("amp_16_bit", s.all_16_bit);
  s.copies_promoted = table.boolean_or("copies_promoted", s.copies_promoted);
  s.narrow_norms = table.boolean_or("narrow_norms", s.narrow_norms);
  return s;
}

}  // namespace tbdsim
