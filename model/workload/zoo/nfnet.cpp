#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource = "huggingface/pytorch-image-models v0.6.12, timm/models/nfnet.py (Brock et al., arXiv:2102.06171)";

struct NfNetDefinition {
  std::string_view name;
  std::array<int, 4> depths;
  std::int64_t group_width, narrowing;  ///< of the 3x3 convolutions; of a block's middle
  std::int64_t features;                ///< channels before the classifier
  std::int64_t squeeze;                 ///< divides the channels of squeeze-and-excitation
  int image;
  bool deepmind;  ///< GELU whose scale is a pass of its own, padding as TensorFlow's, a learned factor for each block
};
constexpr std::array kDefinitions = {
    NfNetDefinition{"dm_nfnet_f0", {1, 2, 6, 3}, 128, 2, 3072, 2, 192, true},
    NfNetDefinition{"dm_nfnet_f1", {2, 4, 12, 6}, 128, 2, 3072, 2, 224, true},
    NfNetDefinition{"nfnet_l0", {1, 2, 6, 3}, 64, 4, 2304, 4, 224, false},
};
constexpr std::array<std::int64_t, 4> kChannels{256, 512, 1536, 1536};

/// Not modelled: kernels over the weights alone, which bring them to mean 0 and variance 1, and the learned factor of a block,
/// one number.
class Network {
 public:
  Network(GraphBuilder& graph, const NfNetDefinition& definition) : g_(graph), d_(definition) {}

  TensorId features() {
    constexpr std::array<std::int64_t, 4> kStem{16, 32, 64, 128}, kStrides{2, 1, 1, 2};
    TensorId x = g_.input();
    for (std::size_t i = 0; i < kStem.size(); ++i) {
      const std::string name = fmt::format("stem.conv{}", i + 1);
      x = convolution(x, kStem[i], 3, kStrides[i], 1, name);
      if (i + 1 < kStem.size()) x = activation(x, true, name + ".act");
    }
    for (std::size_t stage = 0; stage < kChannels.size(); ++stage)
      for (int i = 0; i < d_.depths[stage]; ++i)
        x = block(x, kChannels[stage], i == 0 && stage > 0 ? 2 : 1, fmt::format("stages.{}.{}.", stage, i));
    return activation(convolution(x, d_.features, 1, 1, 1, "final_conv"), true, "final_act");
  }

 private:
  TensorId convolution(TensorId x, std::int64_t channels, std::int64_t kernel, std::int64_t stride, std::int64_t groups,
                       const std::string& name) {
    ConvolutionAttributes a = same_convolution(channels, kernel, stride, groups, true);
    a.gain = true;
    const Shape in = g_.shape(x);
    if (d_.deepmind && stride == 2 && in.size() == 3) {
      const std::int64_t below = in[1] % 2 == 0 ? 1 : 2, before = below - 1;
      x = g_.add(OpKind::pad, {x}, PadAttributes{before, 1, before, 1}, name + ".pad");
      a.pad_h = a.pad_w = 0;
    }
    return g_.convolution(x, a, name);
  }

  TensorId scaled(TensorId x, bool inplace, const std::string& name) { return g_.add(OpKind::multiply, {x}, {}, name, inplace); }

  TensorId activation(TensorId x, bool inplace, const std::string& name) {
    if (!d_.deepmind) return g_.activation(x, ActivationKind::silu, name, inplace);
    return scaled(g_.activation(x, ActivationKind::gelu, name), true, name + ".gamma");
  }

  TensorId squeeze_excite(TensorId x, const std::string& p) {
    const std::int64_t channels = g_.shape(x).front();
    TensorId s = g_.global_average_pool(x, p + "mean");
    s = g_.relu(g_.convolution(s, same_convolution(channels / d_.squeeze, 1, 1, 1, true), p + "fc1"), p + "act", true);
    s = g_.activation(g_.convolution(s, same_convolution(channels, 1, 1, 1, true), p + "fc2"), ActivationKind::sigmoid,
                      p + "gate");
    return g_.add(OpKind::multiply, {x, s}, {}, p + "scale");
  }

  TensorId block(TensorId x, std::int64_t channels, std::int64_t stride, const std::string& p) {
    const std::int64_t middle = channels / d_.narrowing, groups = middle / d_.group_width;
    TensorId y = scaled(activation(x, false, p + "act1"), false, p + "beta");
    TensorId shortcut = x;
    if (stride > 1 || g_.shape(x).front() != channels) {
      shortcut = stride > 1 ? g_.pool(y, square_pool(PoolKind::average, 2, 2, 0, true), p + "downsample.pool") : y;
      shortcut = convolution(shortcut, channels, 1, 1, 1, p + "downsample.conv");
    }
    y = activation(convolution(y, middle, 1, 1, 1, p + "conv1"), true, p + "act2");
    y = activation(convolution(y, middle, 3, stride, groups, p + "conv2"), true, p + "act2b");
    y = activation(convolution(y, middle, 3, 1, groups, p + "conv2b"), false, p + "act3");
    y = squeeze_excite(convolution(y, channels, 1, 1, 1, p + "conv3"), p + "attn_last.");
    y = scaled(y, false, p + "attn_gain");
    if (d_.deepmind) y = scaled(y, false, p + "skipinit_gain");
    return g_.plus(scaled(y, false, p + "alpha"), shortcut, p + "add");
  }

  GraphBuilder& g_;
  const NfNetDefinition& d_;
};

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  const TensorId x = g.flatten(g.global_average_pool(Network(g, *d).features(), "head.pool"), "head.flatten");
  g.softmax_loss(g.linear(x, options.classes.value_or(1000), "head.fc"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_nfnet(std::vector<ZooEntry>& entries) {
  for (const NfNetDefinition& d : kDefinitions)
    entries.push_back(image_classifier(std::string(d.name), "timm", kSource, build, d.image));
}

}  // namespace tbdsim
