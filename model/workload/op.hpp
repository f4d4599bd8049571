#pragma once
#include <cstddef>
#include <span>

#include "model/workload/op_attributes.hpp"

namespace tbdsim {

/// Kinds of operator. Each is one row of `op_kinds()` (operators/operator_row.hpp). `reshape` without dimensions flattens;
/// `multiply` with one input scales by a constant; `mask` adds a constant mask; `learned_bias` adds a trainable vector, one
/// per position, or a number for each head and pair of positions; `learned_scale` multiplies channels by a trainable vector;
/// `prepend_token` puts a trainable row before a sequence; `gather` picks rows; `pairwise_add` sums every row of
/// one sequence with every row of another; `attention` is all between the projections of queries, keys and values and that of the
/// result; `sequence_reverse` turns the steps of a sequence round; `rms_norm` scales rows by their root mean square; `rope` turns
/// pairs of features by angles of their position (rotary embedding); `gated` multiplies the activation of one tensor by another
/// (SwiGLU, GeGLU); `repeat` copies what lies along the first dimension; `route` sends each row to the experts with its highest
/// scores, `grouped_linear` takes the rows of each expert through that expert's weights, `combine` adds up what the experts of a
/// row made; `latent_keys` joins each head's own features with those that all heads share; `pair_products` multiplies each pair
/// of rows of a matrix, in one kernel, and joins the products to a vector; `by_bytes` is any other operator, known by what it
/// reads and writes; `collective` is what the ranks of a divided network exchange between operators; the losses are the ends of a
/// network.
enum class OpKind {
  input,
  convolution,
  linear,
  batch_norm,
  activation,
  pool,
  global_average_pool,
  add,
  multiply,
  concat,
  slice,
  reshape,
  dropout,
  local_response_norm,
  channel_shuffle,
  pad,
  softmax_loss,
  embedding,
  lstm,
  gru,
  vanilla_rnn,
  layer_norm,
  softmax,
  matmul,
  identity,
  transpose,
  mask,
  learned_bias,
  learned_scale,
  prepend_token,
  gather,
  reduce,
  group_norm,
  pairwise_add,
  upsample,
  transposed_convolution,
  proposals,
  roi_pool,
  element_loss,
  ctc_loss,
  attention,
  sequence_reverse,
  rms_norm,
  rope,
  gated,
  repeat,
  route,
  grouped_linear,
  combine,
  latent_keys,
  pair_products,
  by_bytes,
  collective,
};
inline constexpr std::size_t kOpKindCount = static_cast<std::size_t>(OpKind::collective) + 1;

struct OperatorRow;
[[nodiscard]] std::span<const OperatorRow> op_kinds();  ///< in the order of the enumeration
[[nodiscard]] const OperatorRow& info(OpKind kind);
[[nodiscard]] bool is_loss(OpKind kind);  ///< nothing uses a loss, and what it keeps is not the network's

}  // namespace tbdsim
