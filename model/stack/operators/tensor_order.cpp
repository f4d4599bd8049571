#include "model/stack/operators/tensor_order.hpp"

namespace tbdsim {

TensorOrder read_tensor_order(TomlTable& table) {
  TensorOrder s;
  s.channels_last = table.boolean_or("channels_last", s.channels_last);
  s.channels_last_in_16_bits = table.boolean_or("channels_last_in_16_bits", s.channels_last_in_16_bits);
  s.turns_filters = table.boolean_or("turns_filters", s.turns_filters);
  return s;
}

}  // namespace tbdsim
