#pragma once
#include <vector>

#include "model/units/quantity.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// In which width PyTorch's autocast runs an operator.
enum class AutocastRule {
  narrow,  ///< 16 bits: products
  wide,    ///< fp32: normalisations over rows, softmax, losses
  joined,  ///< fp32, since parameters, which are fp32, join what is read: embeddings, learned biases
  widest,  ///< that of the widest input; additions and the like promote as they read, without copies
};
/// Source: pytorch/pytorch v1.13 aten/src/ATen/autocast_mode.cpp, lists of operators.
[[nodiscard]] AutocastRule autocast_rule(OpKind kind);

/// Bytes of an element of each tensor, in graph order: 4 or, where 16 bits, `narrow`. What a network reads is fp32.
[[nodiscard]] std::vector<Bytes> autocast_widths(const OpGraph& graph, Bytes narrow);

}  // namespace tbdsim
