#include "model/stack/parallel/norm_kernels.hpp"

namespace tbdsim {

NormKernels read_norm_kernels(TomlTable& table) {
  NormKernels s;
  s.again = table.boolean_or("norms_again", s.again);
  s.forward = table.quantity_if<Bytes>("norm_forward").value_or(s.forward);
  s.backward = table.quantity_if<Bytes>("norm_backward").value_or(s.backward);
  return s;
}

}  // namespace tbdsim
