#pragma once
// Longer than most headers: a struct for each kind of attributes, each with the keys that network files give them.
#include <cstdint>
#include <variant>
#include <vector>

#include "model/workload/shape.hpp"

namespace tbdsim {

enum class ActivationKind { relu, relu6, tanh, sigmoid, gelu, hardswish, hardsigmoid, silu };
enum class PoolKind { max, average };

/// Bounds of a number in a network file: beyond any network, and small enough that products of three fit 64 bits.
inline constexpr std::int64_t kMostExtent = 1000000;
inline constexpr std::int64_t kMostRecurrentLayers = 1000;
/// Largest axis of a tensor that has no more than three dimensions.
inline constexpr std::int64_t kLastAxis = 2;

// Each struct names its keys in network files to a reader or writer `k`: `integer` takes the key, the number, what holds
// without the key, and the bounds; `required` has no such default; `pair` is one number for both sides or one for each.

struct ConvolutionAttributes {
  std::int64_t out_channels = 0;
  std::int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0, dilation = 1, groups = 1;
  bool bias = false;
  bool gain = false;  ///< weights are normed before use, with a gain for each output channel (weight norm, standardised weights)
  template <class Keys>
  void keys(Keys& k) {
    k.required("channels", out_channels, 1);
    k.pair("kernel", kernel_h, kernel_w, 1, 1, 1);
    k.pair("stride", stride_h, stride_w, 1, 1, 1);
    k.pair("pad", pad_h, pad_w, 0, 0, 0);
    k.integer("dilation", dilation, 1, 1);
    k.integer("groups", groups, 1, 1);
    k.flag("bias", bias, true);
    k.flag("gain", gain, false);
  }
};
struct LinearAttributes {
  std::int64_t out_features = 0;
  bool bias = true;
  bool tied = false;  ///< the weight is another operator's: a softmax over the embedding table, a later step of a cell
  template <class Keys>
  void keys(Keys& k) {
    k.required("features", out_features, 1);
    k.flag("bias", bias, true);
    k.flag("tied", tied, false);
  }
};
struct BatchNormAttributes {
  bool scale = true;  ///< false: gamma fixed (MXNet fix_gamma still stores it)
  template <class Keys>
  void keys(Keys& k) {
    k.flag("scale", scale, true);
  }
};
struct ActivationAttributes {
  ActivationKind kind = ActivationKind::relu;
  template <class Keys>
  void keys(Keys& k) {
    k.word("kind", kind, ActivationKind::relu);
  }
};
struct PoolAttributes {
  PoolKind kind = PoolKind::max;
  std::int64_t kernel_h = 2, kernel_w = 2, stride_h = 2, stride_w = 2, pad_h = 0, pad_w = 0;
  bool ceil_mode = false;
  template <class Keys>
  void keys(Keys& k) {
    k.word("kind", kind, PoolKind::max);
    k.pair("kernel", kernel_h, kernel_w, 2, 2, 1);
    // Windows side by side unless told otherwise, as in every framework.
    k.pair("stride", stride_h, stride_w, kernel_h, kernel_w, 1);
    k.pair("pad", pad_h, pad_w, 0, 0, 0);
    k.flag("ceil_mode", ceil_mode, false);
  }
};
struct DropoutAttributes {
  double probability = 0.5;
  template <class Keys>
  void keys(Keys& k) {
    k.fraction("probability", probability, 0.5);
  }
};
struct LocalResponseNormAttributes {
  std::int64_t size = 5;
  template <class Keys>
  void keys(Keys& k) {
    k.integer("size", size, 5, 1);
  }
};
struct SliceAttributes {
  std::int64_t axis = 0, begin = 0, end = 0;
  template <class Keys>
  void keys(Keys& k) {
    k.integer("axis", axis, 0, 0, kLastAxis);
    k.required("begin", begin, 0);
    k.required("end", end, 1);
  }
};
struct PadAttributes {
  std::int64_t top = 0, bottom = 0, left = 0, right = 0;
  template <class Keys>
  void keys(Keys& k) {
    k.integer("top", top, 0, 0);
    k.integer("bottom", bottom, 0, 0);
    k.integer("left", left, 0, 0);
    k.integer("right", right, 0, 0);
  }
};
struct ShuffleAttributes {
  std::int64_t groups = 2;
  template <class Keys>
  void keys(Keys& k) {
    k.integer("groups", groups, 2, 1);
  }
};
struct EmbeddingAttributes {
  std::int64_t rows = 0, width = 0;
  bool tied = false;  ///< the table is another operator's
  template <class Keys>
  void keys(Keys& k) {
    k.required("rows", rows, 1);
    k.required("width", width, 1);
    k.flag("tied", tied, false);
  }
};
struct RecurrentAttributes {
  std::int64_t hidden = 0, layers = 1;
  bool bidirectional = false, bias = true;
  bool state_given = false;  ///< starts from another layer's state, whose gradient is then computed
  template <class Keys>
  void keys(Keys& k) {
    k.required("hidden", hidden, 1);
    k.integer("layers", layers, 1, 1, kMostRecurrentLayers);
    k.flag("bidirectional", bidirectional, false);
    k.flag("bias", bias, true);
    k.flag("state_given", state_given, false);
  }
};
struct MatmulAttributes {
  bool transpose_b = false;
  template <class Keys>
  void keys(Keys& k) {
    k.flag("transpose_b", transpose_b, false);
  }
};
struct MultiplyAttributes {
  bool keeps_scalar = false;  ///< the constant is a tensor on the device (PyTorch's attention scale)
  template <class Keys>
  void keys(Keys& k) {
    k.flag("keeps_scalar", keeps_scalar, false);
  }
};
struct MaskAttributes {
  bool selects = false;  ///< torch.where or masked_fill: its gradient is a kernel too; that of a mask that is added passes on
  template <class Keys>
  void keys(Keys& k) {
    k.flag("selects", selects, false);
  }
};
struct ConcatAttributes {
  std::int64_t axis = -1;  ///< -1: channels of images, features of sequences
  template <class Keys>
  void keys(Keys& k) {
    k.integer("axis", axis, -1, 0, kLastAxis);
  }
};
struct ReshapeAttributes {
  Shape to;  ///< empty: one dimension
  template <class Keys>
  void keys(Keys& k) {
    k.list("to", to);
  }
};
struct TransposeAttributes {
  std::vector<std::int64_t> order;  ///< of the input's dimensions
  template <class Keys>
  void keys(Keys& k) {
    k.list("order", order);
  }
};
struct LearnedBiasAttributes {
  std::int64_t rows = 0;   ///< positions of the table; 0: one vector for all
  bool tied = false;       ///< the array is another operator's
  std::int64_t heads = 0;  ///< the table has a column for each of these heads, read by the distance of two positions; 0: no heads
  template <class Keys>
  void keys(Keys& k) {
    k.integer("rows", rows, 0, 1);
    k.flag("tied", tied, false);
    k.integer("heads", heads, 0, 1);
  }
};
struct GatherAttributes {
  std::int64_t rows = 0;  ///< picked from the first dimension
  template <class Keys>
  void keys(Keys& k) {
    k.required("rows", rows, 1);
  }
};
struct ReduceAttributes {
  std::int64_t axis = 0;
  template <class Keys>
  void keys(Keys& k) {
    k.integer("axis", axis, 0, 0, kLastAxis);
  }
};
struct GroupNormAttributes {
  std::int64_t groups = 1;
  template <class Keys>
  void keys(Keys& k) {
    k.integer("groups", groups, 1, 1);
  }
};
struct UpsampleAttributes {
  std::int64_t factor = 2;
  template <class Keys>
  void keys(Keys& k) {
    k.integer("factor", factor, 2, 1);
  }
};
struct ProposalAttributes {
  std::int64_t candidates = 0, kept = 0;  ///< boxes that enter and leave the suppression of overlaps
  template <class Keys>
  void keys(Keys& k) {
    k.required("candidates", candidates, 1);
    k.required("kept", kept, 1);
  }
};
struct RoiPoolAttributes {
  std::int64_t regions = 0, size = 0;
  template <class Keys>
  void keys(Keys& k) {
    k.required("regions", regions, 1);
    k.required("size", size, 1);
  }
};
struct AttentionAttributes {
  std::int64_t heads = 1;
  bool causal = false;        ///< a row sees itself and those before it
  std::int64_t kv_heads = 0;  ///< of keys and values, each for equally many of queries; 0: `heads`
  template <class Keys>
  void keys(Keys& k) {
    k.integer("heads", heads, 1, 1);
    k.flag("causal", causal, false);
    k.integer("kv_heads", kv_heads, 0, 1);
  }
};
struct RepeatAttributes {
  std::int64_t times = 1;
  template <class Keys>
  void keys(Keys& k) {
    k.required("times", times, 1);
  }
};
struct ByBytesAttributes {
  Shape output;                   ///< of the result
  std::vector<Shape> parameters;  ///< of the arrays that it trains
  template <class Keys>
  void keys(Keys& k) {
    k.list("to", output);
  }
};

using OpAttributes =
    std::variant<std::monostate, ConvolutionAttributes, LinearAttributes, BatchNormAttributes, ActivationAttributes,
                 PoolAttributes, DropoutAttributes, LocalResponseNormAttributes, SliceAttributes, PadAttributes,
                 ShuffleAttributes, EmbeddingAttributes, RecurrentAttributes, MatmulAttributes, MultiplyAttributes,
                 MaskAttributes, ConcatAttributes, ReshapeAttributes, TransposeAttributes, LearnedBiasAttributes,
                 GatherAttributes, ReduceAttributes, GroupNormAttributes, UpsampleAttributes, ProposalAttributes,
                 RoiPoolAttributes, AttentionAttributes, RepeatAttributes, ByBytesAttributes>;

}  // namespace tbdsim
