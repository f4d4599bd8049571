#pragma once
#include <string_view>

#include "model/workload/onnx/lowering.hpp"

namespace tbdsim::onnx {

/// What becomes of one type of node. `infer` works out dimensions and, of small constants, elements; it runs for every
/// node. `emit` appends operators; it runs for nodes that compute with data.
struct Rule {
  std::string_view type;  ///< as ONNX spells it
  void (*infer)(Lowering&, NodeIndex);
  void (*emit)(Lowering&, NodeIndex);
};

/// The rule of a type of node; null for types without one.
[[nodiscard]] const Rule* find_rule(std::string_view type);

/// What is wrong with a node's attributes, whatever its rule: another type than ONNX gives them, an axis beyond the
/// dimensions of its first input, an order that is none. Empty where nothing is.
[[nodiscard]] std::string misuse(const Lowering& l, NodeIndex node);

// Dimensions and elements of outputs (fold.cpp, fold_arithmetic.cpp). Unknown inputs make unknown outputs.
void infer_constant(Lowering& l, NodeIndex node);
void infer_shape_of(Lowering& l, NodeIndex node);
void infer_same(Lowering& l, NodeIndex node);
void infer_cast(Lowering& l, NodeIndex node);
void infer_elementwise(Lowering& l, NodeIndex node);
void infer_unary(Lowering& l, NodeIndex node);
void infer_reshape(Lowering& l, NodeIndex node);
void infer_flatten(Lowering& l, NodeIndex node);
void infer_squeeze(Lowering& l, NodeIndex node);
void infer_unsqueeze(Lowering& l, NodeIndex node);
void infer_transpose(Lowering& l, NodeIndex node);
void infer_slice(Lowering& l, NodeIndex node);
void infer_concat(Lowering& l, NodeIndex node);
void infer_split(Lowering& l, NodeIndex node);
void infer_gather(Lowering& l, NodeIndex node);
void infer_expand(Lowering& l, NodeIndex node);
void infer_tile(Lowering& l, NodeIndex node);
void infer_constant_of_shape(Lowering& l, NodeIndex node);
void infer_range(Lowering& l, NodeIndex node);
void infer_reduce(Lowering& l, NodeIndex node);
void infer_matmul(Lowering& l, NodeIndex node);
void infer_gemm(Lowering& l, NodeIndex node);
void infer_pad(Lowering& l, NodeIndex node);

// Operators (emit_*.cpp).
void emit_alias(Lowering& l, NodeIndex node);
void emit_by_bytes(Lowering& l, NodeIndex node);
void emit_unknown(Lowering& l, NodeIndex node);
/// The kind whose row names the node: the first input is data, the others are arrays.
void emit_row(Lowering& l, NodeIndex node);
void emit_convolution(Lowering& l, NodeIndex node);
void emit_transposed_convolution(Lowering& l, NodeIndex node);
void emit_batch_norm(Lowering& l, NodeIndex node);
void emit_instance_norm(Lowering& l, NodeIndex node);
void emit_local_response_norm(Lowering& l, NodeIndex node);
void emit_activation(Lowering& l, NodeIndex node);
void emit_clip(Lowering& l, NodeIndex node);
void emit_pool(Lowering& l, NodeIndex node);
void emit_global_pool(Lowering& l, NodeIndex node);
void emit_pad(Lowering& l, NodeIndex node);
void emit_resize(Lowering& l, NodeIndex node);
void emit_dropout(Lowering& l, NodeIndex node);
void emit_softmax(Lowering& l, NodeIndex node);
void emit_loss(Lowering& l, NodeIndex node);
void emit_transpose(Lowering& l, NodeIndex node);
void emit_slice(Lowering& l, NodeIndex node);
void emit_concat(Lowering& l, NodeIndex node);
void emit_split(Lowering& l, NodeIndex node);
void emit_gather(Lowering& l, NodeIndex node);
void emit_reduce(Lowering& l, NodeIndex node);
void emit_matmul(Lowering& l, NodeIndex node);
void emit_gemm(Lowering& l, NodeIndex node);
void emit_add(Lowering& l, NodeIndex node);
void emit_multiply(Lowering& l, NodeIndex node);
void emit_recurrent(Lowering& l, NodeIndex node);

/// `axis` counted from the end where negative; empty outside `rank`.
[[nodiscard]] std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank);

/// The same of an element of a constant, which may be no whole number.
[[nodiscard]] std::optional<std::size_t> axis_of(double axis, std::size_t rank);

/// Axes of one sample's shape: for each axis of `dims`, its position, or none for a batch axis that is left out.
[[nodiscard]] std::vector<std::optional<std::size_t>> sample_axes(const Extents& dims);

}  // namespace tbdsim::onnx
