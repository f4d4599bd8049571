#include "model/stack/parallel/loss_kernels.hpp"

namespace tbdsim {

LossKernels read_loss_kernels(TomlTable& table) {
  LossKernels s;
  s.forward = table.quantity_if<Bytes>("loss_forward").value_or(s.forward);
  s.backward = table.quantity_if<Bytes>("loss_backward").value_or(s.backward);
  s.operators = table.number_or("loss_operators", s.operators, {0.0, 1000.0});
  return s;
}

}  // namespace tbdsim
