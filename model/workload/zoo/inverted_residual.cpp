// Networks of inverted residual blocks, each a row: its blocks in the notation of timm, its widths and its habits. Longer than
// most files of the folder, since the rows are its data.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kTorchvision =
    "torchvision 0.14, torchvision/models/efficientnet.py (Tan & Le, arXiv:1905.11946, 2104.00298)";
constexpr const char* kNvidia =
    "NVIDIA DeepLearningExamples, PyTorch/Classification/ConvNets, image_classification/models/efficientnet.py";
constexpr const char* kTimm = "huggingface/pytorch-image-models v0.6.12, timm/models/efficientnet.py and mobilenetv3.py";

constexpr std::string_view kEfficientNet =
    "ds_r1_k3_s1_e1_c16_se0.25 ir_r2_k3_s2_e6_c24_se0.25 ir_r2_k5_s2_e6_c40_se0.25 ir_r3_k3_s2_e6_c80_se0.25 "
    "ir_r3_k5_s1_e6_c112_se0.25 ir_r4_k5_s2_e6_c192_se0.25 ir_r1_k3_s1_e6_c320_se0.25";
constexpr std::string_view kEfficientNetV2S =
    "cn_r2_k3_s1_c24_skip er_r4_k3_s2_e4_c48 er_r4_k3_s2_e4_c64 ir_r6_k3_s2_e4_c128_se0.25 ir_r9_k3_s1_e6_c160_se0.25 "
    "ir_r15_k3_s2_e6_c256_se0.25";
constexpr std::string_view kEfficientNetV2M =
    "cn_r3_k3_s1_c24_skip er_r5_k3_s2_e4_c48 er_r5_k3_s2_e4_c80 ir_r7_k3_s2_e4_c160_se0.25 ir_r14_k3_s1_e6_c176_se0.25 "
    "ir_r18_k3_s2_e6_c304_se0.25 ir_r5_k3_s1_e6_c512_se0.25";
constexpr std::string_view kEfficientNetV2L =
    "cn_r4_k3_s1_c32_skip er_r7_k3_s2_e4_c64 er_r7_k3_s2_e4_c96 ir_r10_k3_s2_e4_c192_se0.25 ir_r19_k3_s1_e6_c224_se0.25 "
    "ir_r25_k3_s2_e6_c384_se0.25 ir_r7_k3_s1_e6_c640_se0.25";
constexpr std::string_view kMobileNetV2 =
    "ds_r1_k3_s1_e1_c16 ir_r2_k3_s2_e6_c24 ir_r3_k3_s2_e6_c32 ir_r4_k3_s2_e6_c64 ir_r3_k3_s1_e6_c96 ir_r3_k3_s2_e6_c160 "
    "ir_r1_k3_s1_e6_c320";
constexpr std::string_view kMobileNetV3Large =
    "ds_r1_k3_s1_e1_c16_nre ir_r1_k3_s2_e4_c24_nre ir_r1_k3_s1_e3_c24_nre ir_r3_k5_s2_e3_c40_se0.25_nre ir_r1_k3_s2_e6_c80 "
    "ir_r1_k3_s1_e2.5_c80 ir_r2_k3_s1_e2.3_c80 ir_r2_k3_s1_e6_c112_se0.25 ir_r3_k5_s2_e6_c160_se0.25 cn_r1_k1_s1_c960";
constexpr std::string_view kMobileNetV3Small =
    "ds_r1_k3_s2_e1_c16_se0.25_nre ir_r1_k3_s2_e4.5_c24_nre ir_r1_k3_s1_e3.67_c24_nre ir_r1_k5_s2_e4_c40_se0.25 "
    "ir_r2_k5_s1_e6_c40_se0.25 ir_r2_k5_s1_e3_c48_se0.25 ir_r3_k5_s2_e6_c96_se0.25 cn_r1_k1_s1_c576";
constexpr std::string_view kMnasNetB1 =
    "ds_r1_k3_s1_e1_c16_noskip ir_r3_k3_s2_e3_c24 ir_r3_k5_s2_e3_c40 ir_r3_k5_s2_e6_c80 ir_r2_k3_s1_e6_c96 ir_r4_k5_s2_e6_c192 "
    "ir_r1_k3_s1_e6_c320_noskip";
constexpr std::string_view kMnasNetA1 =
    "ds_r1_k3_s1_e1_c16_noskip ir_r2_k3_s2_e6_c24 ir_r3_k5_s2_e3_c40_se0.25 ir_r4_k3_s2_e6_c80 ir_r2_k3_s1_e6_c112_se0.25 "
    "ir_r3_k5_s2_e6_c160_se0.25 ir_r1_k3_s1_e6_c320";
constexpr std::string_view kFbNetC =
    "ir_r1_k3_s1_e1_c16 ir_r1_k3_s2_e6_c24 ir_r2_k3_s1_e1_c24 ir_r1_k5_s2_e6_c32 ir_r1_k5_s1_e3_c32 ir_r1_k5_s1_e6_c32 "
    "ir_r1_k3_s1_e6_c32 ir_r1_k5_s2_e6_c64 ir_r1_k5_s1_e3_c64 ir_r2_k5_s1_e6_c64 ir_r3_k5_s1_e6_c112 ir_r1_k5_s1_e3_c112 "
    "ir_r4_k5_s2_e6_c184 ir_r1_k3_s1_e6_c352";
constexpr std::string_view kSpNasNet =
    "ds_r1_k3_s1_e1_c16_noskip ir_r3_k3_s2_e3_c24 ir_r1_k5_s2_e6_c40 ir_r3_k3_s1_e3_c40 ir_r1_k5_s2_e6_c80 ir_r3_k3_s1_e3_c80 "
    "ir_r1_k5_s1_e6_c96 ir_r3_k5_s1_e3_c96 ir_r4_k5_s2_e6_c192 ir_r1_k3_s1_e6_c320_noskip";
constexpr std::string_view kMixNetS =
    "ds_r1_k3_s1_e1_c16 ir_r1_k3_a1.1_p1.1_s2_e6_c24 ir_r1_k3_a1.1_p1.1_s1_e3_c24 ir_r1_k3.5.7_s2_e6_c40_se0.5_nsw "
    "ir_r3_k3.5_a1.1_p1.1_s1_e6_c40_se0.5_nsw ir_r1_k3.5.7_p1.1_s2_e6_c80_se0.25_nsw ir_r2_k3.5_p1.1_s1_e6_c80_se0.25_nsw "
    "ir_r1_k3.5.7_a1.1_p1.1_s1_e6_c120_se0.5_nsw ir_r2_k3.5.7.9_a1.1_p1.1_s1_e3_c120_se0.5_nsw "
    "ir_r1_k3.5.7.9.11_s2_e6_c200_se0.5_nsw ir_r2_k3.5.7.9_p1.1_s1_e6_c200_se0.5_nsw";
constexpr std::string_view kMixNetM =
    "ds_r1_k3_s1_e1_c24 ir_r1_k3.5.7_a1.1_p1.1_s2_e6_c32 ir_r1_k3_a1.1_p1.1_s1_e3_c32 ir_r1_k3.5.7.9_s2_e6_c40_se0.5_nsw "
    "ir_r3_k3.5_a1.1_p1.1_s1_e6_c40_se0.5_nsw ir_r1_k3.5.7_s2_e6_c80_se0.25_nsw ir_r3_k3.5.7.9_a1.1_p1.1_s1_e6_c80_se0.25_nsw "
    "ir_r1_k3_s1_e6_c120_se0.5_nsw ir_r3_k3.5.7.9_a1.1_p1.1_s1_e3_c120_se0.5_nsw ir_r1_k3.5.7.9_s2_e6_c200_se0.5_nsw "
    "ir_r3_k3.5.7.9_p1.1_s1_e6_c200_se0.5_nsw";
constexpr std::string_view kLcNet =
    "dsa_r1_k3_s1_c32 dsa_r2_k3_s2_c64 dsa_r2_k3_s2_c128 dsa_r1_k3_s2_c256 dsa_r1_k5_s1_c256 dsa_r4_k5_s1_c256 "
    "dsa_r2_k5_s2_c512_se0.25";

/// What else networks of one family do.
enum class Habit {
  torchvision,  ///< blocks are left out at random per sample: a factor for each
  wide,         ///< squeezed layers are a quarter of the expanded width, not of the block's input
  timm,
  tensorflow,  ///< TensorFlow's padding, uneven at stride 2: an operator of its own
  tiny,        ///< repeats are rounded, the stem keeps its width
  mobile,      ///< squeeze of the expanded width by ReLU and a hard sigmoid; the last layer follows the pool
};

struct Definition {
  std::string_view name, blocks;
  double width, depth;
  std::int64_t stem, head;  ///< channels of the first convolution and of the last layer before the classifier
  int image;
  ActivationKind activation;
  Habit habit;
};

constexpr ActivationKind kRelu = ActivationKind::relu, kRelu6 = ActivationKind::relu6, kSilu = ActivationKind::silu,
                         kHswish = ActivationKind::hardswish;

constexpr std::array kDefinitions = {
    Definition{"efficientnet_b0", kEfficientNet, 1.0, 1.0, 32, 1280, 224, kSilu, Habit::torchvision},
    Definition{"efficientnet_b1", kEfficientNet, 1.0, 1.1, 32, 1280, 240, kSilu, Habit::torchvision},
    Definition{"efficientnet_b2", kEfficientNet, 1.1, 1.2, 32, 1280, 288, kSilu, Habit::torchvision},
    Definition{"efficientnet_b3", kEfficientNet, 1.2, 1.4, 32, 1280, 300, kSilu, Habit::torchvision},
    Definition{"efficientnet_b4", kEfficientNet, 1.4, 1.8, 32, 1280, 380, kSilu, Habit::torchvision},
    Definition{"efficientnet_b5", kEfficientNet, 1.6, 2.2, 32, 1280, 456, kSilu, Habit::torchvision},
    Definition{"efficientnet_b6", kEfficientNet, 1.8, 2.6, 32, 1280, 528, kSilu, Habit::torchvision},
    Definition{"efficientnet_b7", kEfficientNet, 2.0, 3.1, 32, 1280, 600, kSilu, Habit::torchvision},
    Definition{"efficientnet_v2_s", kEfficientNetV2S, 1.0, 1.0, 24, 1280, 384, kSilu, Habit::torchvision},
    Definition{"efficientnet_v2_m", kEfficientNetV2M, 1.0, 1.0, 24, 1280, 480, kSilu, Habit::torchvision},
    Definition{"efficientnet_v2_l", kEfficientNetV2L, 1.0, 1.0, 32, 1280, 480, kSilu, Habit::torchvision},
    Definition{"efficientnet_widese_b0", kEfficientNet, 1.0, 1.0, 32, 1280, 224, kSilu, Habit::wide},
    Definition{"efficientnet_widese_b4", kEfficientNet, 1.4, 1.8, 32, 1280, 380, kSilu, Habit::wide},
    Definition{"tf_efficientnet_b0", kEfficientNet, 1.0, 1.0, 32, 1280, 224, kSilu, Habit::tensorflow},
    Definition{"tf_efficientnet_b1", kEfficientNet, 1.0, 1.1, 32, 1280, 240, kSilu, Habit::tensorflow},
    Definition{"tf_efficientnet_b2", kEfficientNet, 1.1, 1.2, 32, 1280, 260, kSilu, Habit::tensorflow},
    Definition{"tf_efficientnet_b3", kEfficientNet, 1.2, 1.4, 32, 1280, 300, kSilu, Habit::tensorflow},
    Definition{"tf_efficientnet_b4", kEfficientNet, 1.4, 1.8, 32, 1280, 380, kSilu, Habit::tensorflow},
    Definition{"mobilenetv2_100", kMobileNetV2, 1.0, 1.0, 32, 1280, 224, kRelu6, Habit::timm},
    Definition{"mobilenetv3_large_100", kMobileNetV3Large, 1.0, 1.0, 16, 1280, 224, kHswish, Habit::mobile},
    Definition{"mobilenetv3_small_100", kMobileNetV3Small, 1.0, 1.0, 16, 1024, 224, kHswish, Habit::mobile},
    Definition{"mnasnet_100", kMnasNetB1, 1.0, 1.0, 32, 1280, 224, kRelu, Habit::timm},
    Definition{"semnasnet_100", kMnasNetA1, 1.0, 1.0, 32, 1280, 224, kRelu, Habit::timm},
    Definition{"fbnetc_100", kFbNetC, 1.0, 1.0, 16, 1984, 224, kRelu, Habit::timm},
    Definition{"spnasnet_100", kSpNasNet, 1.0, 1.0, 32, 1280, 224, kRelu, Habit::timm},
    Definition{"mixnet_s", kMixNetS, 1.0, 1.0, 16, 1536, 224, kRelu, Habit::timm},
    Definition{"mixnet_m", kMixNetM, 1.0, 1.0, 24, 1536, 224, kRelu, Habit::timm},
    Definition{"mixnet_l", kMixNetM, 1.3, 1.0, 24, 1536, 224, kRelu, Habit::timm},
    Definition{"tf_mixnet_l", kMixNetM, 1.3, 1.0, 24, 1536, 224, kRelu, Habit::tensorflow},
    Definition{"tinynet_a", kEfficientNet, 1.0, 1.2, 32, 1280, 192, kSilu, Habit::tiny},
    Definition{"lcnet_050", kLcNet, 0.5, 1.0, 16, 1280, 224, kHswish, Habit::mobile},
    Definition{"lcnet_100", kLcNet, 1.0, 1.0, 16, 1280, 224, kHswish, Habit::mobile},
};

/// One word of the notation: "ir_r3_k3.5_s2_e6_c40_se0.25_nsw".
struct Blocks {
  enum class Kind { separable, inverted, fused, plain } kind;
  int repeats = 1;
  std::vector<std::int64_t> kernels;  ///< several: channels are divided among them
  std::int64_t stride = 1, expand_parts = 1, project_parts = 1;
  double expansion = 1.0, channels = 0.0, squeeze = 0.0;
  bool skip = true, activated_end = false;
  std::optional<ActivationKind> activation;
};

/// Calls `each` with the parts of `text` between separators.
template <class Each>
void split(std::string_view text, char separator, Each each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

double number(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }

Blocks parse(std::string_view word) {
  Blocks b;
  bool first = true;
  split(word, '_', [&](std::string_view part) {
    if (first) {
      b.kind = part == "ir"   ? Blocks::Kind::inverted
               : part == "er" ? Blocks::Kind::fused
               : part == "cn" ? Blocks::Kind::plain
                              : Blocks::Kind::separable;
      b.activated_end = part == "dsa";
      b.skip = part != "cn";
      first = false;
    } else if (part == "noskip" || part == "skip") {
      b.skip = part == "skip";
    } else if (part == "nre" || part == "nsw") {
      b.activation = part == "nre" ? kRelu : kSilu;
    } else if (part.starts_with("se")) {
      b.squeeze = number(part.substr(2));
    } else {
      const std::string_view value = part.substr(1);
      switch (part.front()) {
        case 'r':
          b.repeats = static_cast<int>(number(value));
          break;
        case 's':
          b.stride = static_cast<std::int64_t>(number(value));
          break;
        case 'e':
          b.expansion = number(value);
          break;
        case 'c':
          b.channels = number(value);
          break;
        case 'k':
          split(value, '.', [&](std::string_view k) { b.kernels.push_back(static_cast<std::int64_t>(number(k))); });
          break;
        case 'a':
          b.expand_parts = std::count(value.begin(), value.end(), '.') + 1;
          break;
        case 'p':
          b.project_parts = std::count(value.begin(), value.end(), '.') + 1;
          break;
        default:
          assert(false);
      }
    }
  });
  return b;
}

/// Builds one network.
class Network {
 public:
  Network(GraphBuilder& graph, const Definition& definition) : g_(graph), d_(definition) {}

  /// The maps after each stage.
  std::vector<TensorId> stages() {
    const bool fixed = d_.habit == Habit::tiny || d_.habit == Habit::mobile;
    const std::int64_t stem = fixed ? d_.stem : round_to_eight(static_cast<double>(d_.stem) * d_.width);
    TensorId x = unit(g_.input(), stem, {3}, 2, 1, d_.activation, "stem");
    std::vector<TensorId> maps;
    split(d_.blocks, ' ', [&](std::string_view word) {
      const Blocks b = parse(word);
      const double repeats = b.repeats * d_.depth;
      const auto count = static_cast<int>(d_.habit == Habit::tiny ? std::round(repeats) : std::ceil(repeats));
      for (int i = 0; i < count; ++i) x = block(x, b, i == 0 ? b.stride : 1, fmt::format("blocks.{}.{}", maps.size(), i));
      maps.push_back(x);
    });
    return maps;
  }

  void classify(TensorId x, std::int64_t classes) {
    x = d_.habit == Habit::mobile ? late_head(x) : early_head(x);
    g_.softmax_loss(g_.linear(x, classes, "classifier"), "loss");
  }

 private:
  /// A convolution of stride 1 or 2 whose channels, where there are several kernels, are divided among them.
  TensorId mixed(TensorId x, std::int64_t channels, const std::vector<std::int64_t>& kernels, std::int64_t stride, bool depthwise,
                 const std::string& name) {
    if (kernels.size() == 1) return padded(x, channels, kernels.front(), stride, depthwise ? channels : 1, name);
    const std::int64_t in = g_.shape(x).front(), parts = static_cast<std::int64_t>(kernels.size());
    std::vector<TensorId> outputs;
    std::int64_t begin = 0;
    for (std::int64_t i = 0; i < parts; ++i) {
      const std::int64_t take = in / parts + (i == 0 ? in % parts : 0), make = channels / parts + (i == 0 ? channels % parts : 0);
      const std::string part = fmt::format("{}.{}", name, i);
      const TensorId piece = g_.add(OpKind::slice, {x}, SliceAttributes{0, begin, begin + take}, part + ".split");
      outputs.push_back(padded(piece, make, kernels[static_cast<std::size_t>(i)], stride, depthwise ? make : 1, part));
      begin += take;
    }
    return g_.concat(outputs, name + ".cat");
  }

  TensorId padded(TensorId x, std::int64_t channels, std::int64_t kernel, std::int64_t stride, std::int64_t groups,
                  const std::string& name) {
    ConvolutionAttributes a = same_convolution(channels, kernel, stride, groups);
    const Shape in = g_.shape(x);
    if (d_.habit == Habit::tensorflow && stride == 2 && in.size() == 3) {
      const auto missing = [&](std::int64_t side) { return std::max<std::int64_t>(((side + 1) / 2 - 1) * 2 + kernel - side, 0); };
      const std::int64_t rows = missing(in[1]), columns = missing(in[2]);
      x = g_.add(OpKind::pad, {x}, PadAttributes{rows / 2, rows - rows / 2, columns / 2, columns - columns / 2}, name + ".pad");
      a.pad_h = a.pad_w = 0;
    }
    return g_.convolution(x, a, name);
  }

  /// Convolution, batch norm and, unless there is none, an activation in place.
  TensorId unit(TensorId x, std::int64_t channels, const std::vector<std::int64_t>& kernels, std::int64_t stride,
                std::int64_t depthwise, std::optional<ActivationKind> activation, const std::string& name) {
    x = g_.batch_norm(mixed(x, channels, kernels, stride, depthwise > 1, name), name + ".bn");
    return activation ? g_.activation(x, *activation, name + ".act", true) : x;
  }

  TensorId squeeze(TensorId x, double share, std::int64_t block_input, ActivationKind activation, const std::string& name) {
    const std::int64_t channels = g_.shape(x).front();
    const bool mobile = d_.habit == Habit::mobile, wide = mobile || d_.habit == Habit::wide;
    const double wanted = static_cast<double>(wide ? channels : block_input) * share;
    const std::int64_t squeezed = mobile ? round_to_eight(wanted) : static_cast<std::int64_t>(std::nearbyint(wanted));
    TensorId s = g_.global_average_pool(x, name + ".pool");
    s = g_.convolution(s, same_convolution(squeezed, 1, 1, 1, true), name + ".reduce");
    s = g_.activation(s, mobile ? kRelu : activation, name + ".act", true);
    s = g_.convolution(s, same_convolution(channels, 1, 1, 1, true), name + ".expand");
    s = g_.activation(s, mobile ? ActivationKind::hardsigmoid : ActivationKind::sigmoid, name + ".gate");
    return g_.add(OpKind::multiply, {x, s}, {}, name + ".scale");
  }

  TensorId block(TensorId x, const Blocks& b, std::int64_t stride, const std::string& name) {
    using Kind = Blocks::Kind;
    const std::int64_t in = g_.shape(x).front();
    const std::int64_t out = round_to_eight(b.channels * d_.width),
                       middle = round_to_eight(static_cast<double>(in) * b.expansion);
    const ActivationKind activation = b.activation.value_or(d_.activation);
    TensorId y = x;
    if (b.kind == Kind::plain || (b.kind == Kind::fused && b.expansion == 1.0)) {
      y = unit(y, out, b.kernels, stride, 1, activation, name + ".conv");
    } else {
      if (b.kind == Kind::fused) {
        y = unit(y, middle, b.kernels, stride, 1, activation, name + ".conv_exp");
      } else {
        const std::vector<std::int64_t> ones(static_cast<std::size_t>(b.expand_parts), 1);
        // timm expands even by a factor of 1, torchvision does not.
        if (b.kind == Kind::inverted) y = unit(y, middle, ones, 1, 1, activation, name + ".conv_pw");
        y = unit(y, b.kind == Kind::separable ? in : middle, b.kernels, stride, in, activation, name + ".conv_dw");
      }
      if (b.squeeze > 0) y = squeeze(y, b.squeeze, in, activation, name + ".se");
      const std::vector<std::int64_t> ones(static_cast<std::size_t>(b.project_parts), 1);
      y = unit(y, out, ones, 1, 1, b.activated_end ? std::optional(activation) : std::nullopt, name + ".conv_pwl");
    }
    if (!b.skip || stride != 1 || in != out || b.activated_end) return y;
    // Of each sample the block counts or does not. The first of all always counts.
    if (d_.habit == Habit::torchvision && blocks_++ > 0) y = g_.add(OpKind::multiply, {y}, {}, name + ".drop_path");
    return g_.plus(y, x, name + ".add");
  }

  TensorId early_head(TensorId x) {
    // A wider network has a wider head, except where the width is named.
    const bool follows = d_.blocks == kEfficientNet && d_.habit != Habit::tiny;
    const std::int64_t head = follows ? round_to_eight(static_cast<double>(d_.head) * d_.width) : d_.head;
    x = unit(x, head, {1}, 1, 1, d_.activation, "conv_head");
    x = g_.flatten(g_.global_average_pool(x, "global_pool"), "flatten");
    const bool drops = d_.habit == Habit::torchvision || d_.habit == Habit::wide;
    return drops ? g_.dropout(x, 0.2, "dropout") : x;
  }

  TensorId late_head(TensorId x) {
    x = g_.convolution(g_.global_average_pool(x, "global_pool"), same_convolution(d_.head, 1, 1, 1, true), "conv_head");
    return g_.flatten(g_.activation(x, d_.activation, "head_act", true), "flatten");
  }

  GraphBuilder& g_;
  const Definition& d_;
  int blocks_ = 0;
};

const Definition& definition_of(std::string_view name) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == name; });
  assert(d != kDefinitions.end());
  return *d;
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  Network network(g, definition_of(entry.name));
  network.classify(network.stages().back(), options.classes.value_or(1000));
  return std::move(g).finish();
}

}  // namespace

std::vector<TensorId> inverted_residual_stages(GraphBuilder& g, std::string_view name) {
  return Network(g, definition_of(name)).stages();
}

void append_inverted_residual(std::vector<ZooEntry>& entries) {
  for (const Definition& d : kDefinitions) {
    const bool torchvision = d.habit == Habit::torchvision, nvidia = d.habit == Habit::wide;
    entries.push_back(image_classifier(std::string(d.name),
                                       torchvision ? "torchvision"
                                       : nvidia    ? "nvidia"
                                                   : "timm",
                                       torchvision ? kTorchvision
                                       : nvidia    ? kNvidia
                                                   : kTimm,
                                       build, d.image));
  }
}

}  // namespace tbdsim
