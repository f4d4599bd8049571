#include "model/stack/parallel/gradient_sums.hpp"

namespace tbdsim {

GradientSums read_gradient_sums(TomlTable& table) {
  GradientSums s;
  s.wide = table.boolean_or("wide_gradients", s.wide);
  s.sum = table.quantity_if<Bytes>("gradient_sum").value_or(s.sum);
  s.fuses_sum = table.boolean_or("fuses_gradient_sum", s.fuses_sum);
  s.overlap = table.boolean_or("overlaps_gradients", s.overlap);
  s.reduced_everywhere = table.boolean_or("reduces_everywhere", s.reduced_everywhere);
  s.bucket = table.quantity_if<Bytes>("bucket").value_or(s.bucket);
  s.bucket_per_rank = table.quantity_if<Bytes>("bucket_per_rank").value_or(s.bucket_per_rank);
  s.bucket_copies = table.quantity_if<Bytes>("bucket_copies").value_or(s.bucket_copies);
  return s;
}

}  // namespace tbdsim
