#pragma once
// Long because every kind of attributes has a struct, each with the keys that network files give them.
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "model/workload/collective_kind.hpp"
#include "model/workload/expert_choice.hpp"
#include "model/workload/layout.hpp"
#include "model/workload/shape.hpp"

namespace tbdsim {

enum class ActivationKind { relu, relu6, tanh, sigmoid, gelu, hardswish, hardsigmoid, silu, power };
enum class PoolKind { max, average };

/// Bounds of a number in a network file: beyond any network, and small enough that products of three fit 64 bits.
inline constexpr std::int64_t kMostExtent = 1000000;
/// Rows of a table that are looked up.
inline constexpr std::int64_t kMostTableRows = 1000000000;
inline constexpr std::int64_t kMostRecurrentLayers = 1000;
/// Largest axis of a tensor that has no more than three dimensions.
inline constexpr std::int64_t kLastAxis = 2;

// Each struct names its keys in network files to a reader or writer `k`: `integer` takes the key, the number, what holds
// without the key, and the bounds; `required` has no such default; `pair` is one number for both sides or one for each.

struct ConvolutionAttributes {
  bool operator==(const ConvolutionAttributes&) const = default;
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
  bool operator==(const LinearAttributes&) const = default;
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
  bool operator==(const BatchNormAttributes&) const = default;
  bool scale = true;  ///< false: gamma fixed (MXNet fix_gamma still stores it)
  template <class Keys>
  void keys(Keys& k) {
    k.flag("scale", scale, true);
  }
};
struct ActivationAttributes {
  bool operator==(const ActivationAttributes&) const = default;
  ActivationKind kind = ActivationKind::relu;
  template <class Keys>
  void keys(Keys& k) {
    k.word("kind", kind, ActivationKind::relu);
  }
};
struct PoolAttributes {
  bool operator==(const PoolAttributes&) const = default;
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
  bool operator==(const DropoutAttributes&) const = default;
  double probability = 0.5;
  template <class Keys>
  void keys(Keys& k) {
    k.fraction("probability", probability, 0.5);
  }
};
struct LocalResponseNormAttributes {
  bool operator==(const LocalResponseNormAttributes&) const = default;
  std::int64_t size = 5;
  template <class Keys>
  void keys(Keys& k) {
    k.integer("size", size, 5, 1);
  }
};
struct SliceAttributes {
  bool operator==(const SliceAttributes&) const = default;
  std::int64_t axis = 0, begin = 0, end = 0;
  bool indexed = false;  ///< x[begin:end] and not one part of a split: its gradient alone fills a whole tensor with zeros first
  template <class Keys>
  void keys(Keys& k) {
    k.integer("axis", axis, 0, 0, kLastAxis);
    k.required("begin", begin, 0);
    k.required("end", end, 1);
    k.flag("indexed", indexed, false);
  }
};
struct PadAttributes {
  bool operator==(const PadAttributes&) const = default;
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
  bool operator==(const ShuffleAttributes&) const = default;
  std::int64_t groups = 2;
  template <class Keys>
  void keys(Keys& k) {
    k.integer("groups", groups, 2, 1);
  }
};
struct EmbeddingAttributes {
  bool operator==(const EmbeddingAttributes&) const = default;
  std::int64_t rows = 0, width = 0;
  bool tied = false;     ///< the table is another operator's
  std::int64_t bag = 1;  ///< tokens whose rows are summed into one
  bool sparse = false;   ///< its gradient holds only the rows read, and the optimiser touches no others
  bool joint = false;    ///< several tables in one kernel of a script's own, which casts rows where autocast would later
  template <class Keys>
  void keys(Keys& k) {
    k.required("rows", rows, 1, kMostTableRows);
    k.required("width", width, 1);
    k.flag("tied", tied, false);
    k.integer("bag", bag, 1, 1);
    k.flag("sparse", sparse, false);
    k.flag("joint", joint, false);
  }
};
struct PairProductsAttributes {
  bool operator==(const PairProductsAttributes&) const = default;
  std::int64_t multiple = 1;  ///< zeros pad the result to a multiple of this
  template <class Keys>
  void keys(Keys& k) {
    k.integer("multiple", multiple, 1, 1);
  }
};
struct RecurrentAttributes {
  bool operator==(const RecurrentAttributes&) const = default;
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
  bool operator==(const MatmulAttributes&) const = default;
  bool transpose_b = false;
  template <class Keys>
  void keys(Keys& k) {
    k.flag("transpose_b", transpose_b, false);
  }
};
struct MultiplyAttributes {
  bool operator==(const MultiplyAttributes&) const = default;
  bool keeps_scalar = false;  ///< the constant is a tensor on the device (PyTorch's attention scale)
  bool per_channel =
      false;  ///< by a constant for each channel, an fp32 array whatever the network's precision (frozen batch norm)
  template <class Keys>
  void keys(Keys& k) {
    k.flag("keeps_scalar", keeps_scalar, false);
    k.flag("per_channel", per_channel, false);
  }
};
struct MaskAttributes {
  bool operator==(const MaskAttributes&) const = default;
  bool selects = false;  ///< torch.where or masked_fill: its gradient is a kernel too; that of a mask that is added passes on
  bool in_view =
      false;  ///< written in place through a view: eager PyTorch copies the whole gradient, then that of the view twice
  template <class Keys>
  void keys(Keys& k) {
    k.flag("selects", selects, false);
    k.flag("in_view", in_view, false);
  }
};
struct ConcatAttributes {
  bool operator==(const ConcatAttributes&) const = default;
  std::int64_t axis = -1;  ///< -1: channels of images, features of sequences
  template <class Keys>
  void keys(Keys& k) {
    k.integer("axis", axis, -1, 0, kLastAxis);
  }
};
struct ReshapeAttributes {
  bool operator==(const ReshapeAttributes&) const = default;
  Shape to;  ///< empty: one dimension
  template <class Keys>
  void keys(Keys& k) {
    k.list("to", to);
  }
};
struct TransposeAttributes {
  bool operator==(const TransposeAttributes&) const = default;
  std::vector<std::int64_t> order;  ///< of the input's dimensions
  template <class Keys>
  void keys(Keys& k) {
    k.list("order", order);
  }
};
struct LearnedBiasAttributes {
  bool operator==(const LearnedBiasAttributes&) const = default;
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
  bool operator==(const GatherAttributes&) const = default;
  std::int64_t rows = 0;  ///< picked from the first dimension
  template <class Keys>
  void keys(Keys& k) {
    k.required("rows", rows, 1);
  }
};
struct ReduceAttributes {
  bool operator==(const ReduceAttributes&) const = default;
  std::int64_t axis = 0;
  template <class Keys>
  void keys(Keys& k) {
    k.integer("axis", axis, 0, 0, kLastAxis);
  }
};
struct GroupNormAttributes {
  bool operator==(const GroupNormAttributes&) const = default;
  std::int64_t groups = 1;
  template <class Keys>
  void keys(Keys& k) {
    k.integer("groups", groups, 1, 1);
  }
};
struct UpsampleAttributes {
  bool operator==(const UpsampleAttributes&) const = default;
  std::int64_t factor = 2;
  template <class Keys>
  void keys(Keys& k) {
    k.integer("factor", factor, 2, 1);
  }
};
struct ProposalAttributes {
  bool operator==(const ProposalAttributes&) const = default;
  std::int64_t candidates = 0, kept = 0;  ///< boxes that enter and leave the suppression of overlaps
  template <class Keys>
  void keys(Keys& k) {
    k.required("candidates", candidates, 1);
    k.required("kept", kept, 1);
  }
};
struct RoiPoolAttributes {
  bool operator==(const RoiPoolAttributes&) const = default;
  std::int64_t regions = 0, size = 0;
  template <class Keys>
  void keys(Keys& k) {
    k.required("regions", regions, 1);
    k.required("size", size, 1);
  }
};
struct AttentionAttributes {
  bool operator==(const AttentionAttributes&) const = default;
  std::int64_t heads = 1;
  bool causal = false;           ///< a row sees itself and those before it
  std::int64_t kv_heads = 0;     ///< of keys and values, each for equally many of queries; 0: `heads`
  std::int64_t window = 0;       ///< of a causal mask: a row sees so many up to itself; 0: all
  std::int64_t value_width = 0;  ///< features of a head of values; 0: as of keys
  bool sinks = false;            ///< each head has a trainable score that takes part in the softmax (GPT-OSS)
  bool both_ends = false;        ///< queries are a share of the positions, half of it from each end of the sequence
  template <class Keys>
  void keys(Keys& k) {
    k.integer("heads", heads, 1, 1);
    k.flag("causal", causal, false);
    k.integer("kv_heads", kv_heads, 0, 1);
    k.integer("window", window, 0, 1);
    k.integer("value_width", value_width, 0, 1);
    k.flag("sinks", sinks, false);
  }
};
struct RmsNormAttributes {
  bool operator==(const RmsNormAttributes&) const = default;
  std::int64_t width = 0;  ///< features that are scaled together, such as those of a head; 0: the row
  template <class Keys>
  void keys(Keys& k) {
    k.integer("width", width, 0, 1);
  }
};
struct RouteAttributes {
  bool operator==(const RouteAttributes&) const = default;
  std::int64_t per_token = 1;         ///< experts that a row goes to
  std::int64_t groups = 0;            ///< of equally many experts; 0: a row goes to any
  std::int64_t groups_per_token = 0;  ///< in which all experts of a row lie
  template <class Keys>
  void keys(Keys& k) {
    k.required("per_token", per_token, 1);
    k.integer("groups", groups, 0, 1);
    k.integer("groups_per_token", groups_per_token, 0, 1);
  }
};
struct GroupedLinearAttributes {
  bool operator==(const GroupedLinearAttributes&) const = default;
  std::int64_t experts = 1, out_features = 0;
  bool bias = false;
  template <class Keys>
  void keys(Keys& k) {
    k.required("experts", experts, 1);
    k.required("features", out_features, 1);
    k.flag("bias", bias, false);
  }
};
struct LatentKeysAttributes {
  bool operator==(const LatentKeysAttributes&) const = default;
  std::int64_t heads = 1;
  template <class Keys>
  void keys(Keys& k) {
    k.integer("heads", heads, 1, 1);
  }
};
struct RepeatAttributes {
  bool operator==(const RepeatAttributes&) const = default;
  std::int64_t times = 1;
  template <class Keys>
  void keys(Keys& k) {
    k.required("times", times, 1);
  }
};
struct ByBytesAttributes {
  bool operator==(const ByBytesAttributes&) const = default;
  Shape output;                   ///< of the result
  std::vector<Shape> parameters;  ///< of the arrays that it trains
  template <class Keys>
  void keys(Keys& k) {
    k.list("to", output);
  }
};

/// What a rank of a divided network exchanges with others: of what lies before it forward, of the gradient backward. Files of
/// networks have none.
struct CollectiveAttributes {
  bool operator==(const CollectiveAttributes&) const = default;
  std::optional<CollectiveKind> forward, backward;
  Axis axis = Axis::tensor;
  bool again = false;     ///< what it gathers is not kept: backward gathers it once more
  ExpertChoice choice{};  ///< whose rows move, along the expert axis
  template <class Keys>
  void keys(Keys&) {}
};

using OpAttributes =
    std::variant<std::monostate, ConvolutionAttributes, LinearAttributes, BatchNormAttributes, ActivationAttributes,
                 PoolAttributes, DropoutAttributes, LocalResponseNormAttributes, SliceAttributes, PadAttributes,
                 ShuffleAttributes, EmbeddingAttributes, RecurrentAttributes, MatmulAttributes, MultiplyAttributes,
                 MaskAttributes, ConcatAttributes, ReshapeAttributes, TransposeAttributes, LearnedBiasAttributes,
                 GatherAttributes, ReduceAttributes, GroupNormAttributes, UpsampleAttributes, ProposalAttributes,
                 RoiPoolAttributes, AttentionAttributes, RepeatAttributes, ByBytesAttributes, RmsNormAttributes, RouteAttributes,
                 GroupedLinearAttributes, LatentKeysAttributes, CollectiveAttributes, PairProductsAttributes>;

}  // namespace tbdsim
