#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace tbdsim {

/// Kinds of operator. Each is one row of `op_kinds()`. `reshape` flattens; `multiply` with one input scales by a
/// constant; `softmax_loss` is the end of a network.
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
};
inline constexpr std::size_t kOpKindCount = static_cast<std::size_t>(OpKind::identity) + 1;

/// What the operator's work is made of: which cost model serves it.
enum class OpFamily { none, convolution, gemm, recurrent, memory_bound };

struct OpKindInfo {
  OpKind kind;
  std::string_view name;  ///< as in network files: "batch_norm"
  OpFamily family;
  bool has_parameters;  ///< may own trainable arrays
  bool moves_data;      ///< launches a kernel (reshape, identity and input do not)
  int min_inputs, max_inputs;
};
[[nodiscard]] std::span<const OpKindInfo> op_kinds();
[[nodiscard]] const OpKindInfo& info(OpKind kind);

enum class ActivationKind { relu, relu6, tanh, sigmoid, gelu, hardswish, hardsigmoid };
enum class PoolKind { max, average };

struct ConvolutionAttributes {
  std::int64_t out_channels = 0;
  std::int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0, dilation = 1, groups = 1;
  bool bias = false;
};
struct LinearAttributes {
  std::int64_t out_features = 0;
  bool bias = true;
};
struct BatchNormAttributes {
  bool scale = true;
};  ///< scale false: gamma fixed (MXNet fix_gamma still stores it)
struct ActivationAttributes {
  ActivationKind kind = ActivationKind::relu;
};
struct PoolAttributes {
  PoolKind kind = PoolKind::max;
  std::int64_t kernel_h = 2, kernel_w = 2, stride_h = 2, stride_w = 2, pad_h = 0, pad_w = 0;
  bool ceil_mode = false;
};
struct DropoutAttributes {
  double probability = 0.5;
};
struct LocalResponseNormAttributes {
  std::int64_t size = 5;
};
struct SliceAttributes {
  std::int64_t axis = 0, begin = 0, end = 0;
};
struct PadAttributes {
  std::int64_t top = 0, bottom = 0, left = 0, right = 0;
};
struct ShuffleAttributes {
  std::int64_t groups = 2;
};
struct EmbeddingAttributes {
  std::int64_t rows = 0, width = 0;
};
struct RecurrentAttributes {
  std::int64_t hidden = 0, layers = 1;
  bool bidirectional = false, bias = true;
};
struct MatmulAttributes {
  bool transpose_b = false;
};

using OpAttributes =
    std::variant<std::monostate, ConvolutionAttributes, LinearAttributes, BatchNormAttributes, ActivationAttributes,
                 PoolAttributes, DropoutAttributes, LocalResponseNormAttributes, SliceAttributes, PadAttributes,
                 ShuffleAttributes, EmbeddingAttributes, RecurrentAttributes, MatmulAttributes>;

}  // namespace tbdsim
