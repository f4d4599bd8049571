#include "model/stack/operators/operator_passes.hpp"

namespace tbdsim {

OperatorPasses read_operator_passes(TomlTable& table) {
  OperatorPasses s;
  s.batch_norm_forward = table.number_or("batch_norm_forward_passes", s.batch_norm_forward, kPositive);
  s.batch_norm_backward = table.number_or("batch_norm_backward_passes", s.batch_norm_backward, kPositive);
  s.dropout_forward = table.number_or("dropout_forward_passes", s.dropout_forward, kPositive);
  s.dropout_backward = table.number_or("dropout_backward_passes", s.dropout_backward, kPositive);
  s.softmax_backward = table.number_or("softmax_backward_passes", s.softmax_backward, kPositive);
  return s;
}

}  // namespace tbdsim
