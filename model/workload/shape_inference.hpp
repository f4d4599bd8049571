#pragma once
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "model/workload/op.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// Shape of an operator's output for one sample, or the reason why the operator cannot take these inputs.
///
/// Images are C,H,W; vectors C; sequences T,H; token sequences T. `attributes` must be of the operator's own type
/// (kinds without attributes: monostate). Pools and convolutions round down, a pool with `ceil_mode` up, but never
/// to a window that would start in the padding (as PyTorch and Caffe do).
/// Errors: wrong number of inputs or of dimensions, attribute out of range, kernel larger than its padded input,
/// channels not divisible by groups, unequal shapes. Text such as `kernel 7x7 is larger than the padded input 6x6`.
[[nodiscard]] tl::expected<Shape, std::string> infer_shape(OpKind kind, const OpAttributes& attributes,
                                                           const std::vector<const Shape*>& inputs);

/// One trainable array that an operator owns: what it is called within the operator, and its shape.
struct ParameterSpec {
  enum class Role { weight, bias, gamma, beta, recurrent } role = Role::weight;
  Shape shape;
  std::string suffix;          ///< recurrent only: "weight_ih_l0"
  std::int64_t rows_read = 0;  ///< as `Parameter`
};

/// What the arrays of an operator depend on.
struct ParameterRequest {
  OpKind kind;
  const OpAttributes& attributes;
  const Shape& input;      ///< the first
  bool keeps_fixed_gamma;  ///< as `parameters_of`
};

/// Trainable arrays of an operator whose `infer_shape` succeeded. `keeps_fixed_gamma`: a batch norm without scale
/// still stores its gamma (MXNet).
[[nodiscard]] std::vector<ParameterSpec> parameters_of(OpKind kind, const OpAttributes& attributes, const Shape& input,
                                                       bool keeps_fixed_gamma);

/// Gates of a recurrent cell: LSTM 4, GRU 3, plain RNN 1. Expects a recurrent kind.
[[nodiscard]] std::int64_t gates(OpKind kind);

}  // namespace tbdsim
