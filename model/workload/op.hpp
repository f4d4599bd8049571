#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace tbdsim {

/// Kinds of operator. Each is one row of `op_kinds()`. `reshape` without dimensions flattens; `multiply` with one input
/// scales by a constant; `mask` adds a constant mask; `learned_bias` adds a trainable vector, or one per position;
/// `prepend_token` puts a trainable row before a sequence; `gather` picks rows; `pairwise_add` sums every row of one
/// sequence with every row of another; `attention` is all between the projections of queries, keys and values and that of
/// the result; `sequence_reverse` turns the steps of a sequence round; `by_bytes` is any other operator, known by what it
/// reads and writes; the losses are the ends of a network.
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
  by_bytes,
};
inline constexpr std::size_t kOpKindCount = static_cast<std::size_t>(OpKind::by_bytes) + 1;

/// What the operator's work is made of: which cost model serves it.
enum class OpFamily { none, convolution, gemm, recurrent, memory_bound, attention };

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
/// Whether networks end there: nothing uses a loss, and what it keeps is not the network's.
[[nodiscard]] bool is_loss(OpKind kind);

enum class ActivationKind { relu, relu6, tanh, sigmoid, gelu, hardswish, hardsigmoid, silu };
enum class PoolKind { max, average };

struct ConvolutionAttributes {
  std::int64_t out_channels = 0;
  std::int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0, dilation = 1, groups = 1;
  bool bias = false;
};
struct LinearAttributes {
  std::int64_t out_features = 0;
  bool bias = true;
  bool tied = false;  ///< the weight is another operator's: a softmax over the embedding table, a later step of a cell
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
  bool tied = false;  ///< the table is another operator's
};
struct RecurrentAttributes {
  std::int64_t hidden = 0, layers = 1;
  bool bidirectional = false, bias = true;
  bool state_given = false;  ///< starts from another layer's state, whose gradient is then computed
};
struct MatmulAttributes {
  bool transpose_b = false;
};
struct MultiplyAttributes {
  bool keeps_scalar = false;  ///< the constant is a tensor on the device (PyTorch's attention scale)
};
struct MaskAttributes {
  bool selects = false;  ///< torch.where or masked_fill: its gradient is a kernel too; that of a mask that is added passes on
};
struct ConcatAttributes {
  std::int64_t axis = -1;  ///< -1: channels of images, features of sequences
};
struct ReshapeAttributes {
  std::vector<std::int64_t> to;  ///< empty: one dimension
};
struct TransposeAttributes {
  std::vector<std::int64_t> order;  ///< of the input's dimensions
};
struct LearnedBiasAttributes {
  std::int64_t rows = 0;  ///< positions of the table; 0: one vector for all
  bool tied = false;      ///< the array is another operator's
};
struct GatherAttributes {
  std::int64_t rows = 0;  ///< picked from the first dimension
};
struct ReduceAttributes {
  std::int64_t axis = 0;
};
struct GroupNormAttributes {
  std::int64_t groups = 1;
};
struct UpsampleAttributes {
  std::int64_t factor = 2;
};
struct ProposalAttributes {
  std::int64_t candidates = 0, kept = 0;  ///< boxes that enter and leave the suppression of overlaps
};
struct AttentionAttributes {
  std::int64_t heads = 1;
  bool causal = false;  ///< a row sees itself and those before it
};
struct RoiPoolAttributes {
  std::int64_t regions = 0, size = 0;
};
struct ByBytesAttributes {
  std::vector<std::int64_t> output;                   ///< dimensions of the result
  std::vector<std::vector<std::int64_t>> parameters;  ///< dimensions of the arrays that it trains
};

using OpAttributes =
    std::variant<std::monostate, ConvolutionAttributes, LinearAttributes, BatchNormAttributes, ActivationAttributes,
                 PoolAttributes, DropoutAttributes, LocalResponseNormAttributes, SliceAttributes, PadAttributes,
                 ShuffleAttributes, EmbeddingAttributes, RecurrentAttributes, MatmulAttributes, MultiplyAttributes,
                 MaskAttributes, ConcatAttributes, ReshapeAttributes, TransposeAttributes, LearnedBiasAttributes,
                 GatherAttributes, ReduceAttributes, GroupNormAttributes, UpsampleAttributes, ProposalAttributes,
                 RoiPoolAttributes, AttentionAttributes, ByBytesAttributes>;

}  // namespace tbdsim
