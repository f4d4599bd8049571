#pragma once
#include <optional>
#include <string>

#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// Why an operator of a user's network is refused: more than 10^12 weights or outputs, or 10^14 multiply-adds per sample.
/// No network that can be trained comes near; sums of exact counts fit 64 bits below. Expects shapes that `infer_shape`
/// accepted.
[[nodiscard]] std::optional<std::string> too_large(OpKind kind, const OpAttributes& attributes, const Shape& input,
                                                   const Shape& output);

/// Multiply-adds of an operator's forward pass, as a real number that cannot overflow.
[[nodiscard]] double rough_macs(OpKind kind, const OpAttributes& attributes, const Shape& input, const Shape& output);

}  // namespace tbdsim
