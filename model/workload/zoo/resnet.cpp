#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <string_view>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kTorchvision = "torchvision 0.14, torchvision/models/resnet.py";
constexpr const char* kTorch7 = "facebook/fb.resnet.torch, models/resnet.lua";
constexpr const char* kNvidia =
    "NVIDIA DeepLearningExamples, PyTorch/Classification/ConvNets, image_classification/models/resnet.py";
constexpr const char* kWeaklySupervised = "facebookresearch/semi-supervised-ImageNet1K-models, hubconf.py";

/// One network of He et al. (arXiv:1512.03385) with the stride in the 3x3 convolution, Xie et al.
/// (arXiv:1611.05431) or Zagoruyko & Komodakis (arXiv:1605.07146).
struct ResNetDefinition {
  std::string_view name;
  bool bottleneck;
  std::array<int, 4> blocks;
  std::int64_t groups, width_per_group;
  const char* variant = "torchvision";
  const char* source = kTorchvision;
  std::int64_t squeeze = 0;  ///< Hu et al., arXiv:1709.01507: by what the squeezed layers are narrower; 0: none
};

constexpr std::array kDefinitions = {
    ResNetDefinition{"resnet18", false, {2, 2, 2, 2}, 1, 64},
    ResNetDefinition{"resnet34", false, {3, 4, 6, 3}, 1, 64},
    ResNetDefinition{"resnet50", true, {3, 4, 6, 3}, 1, 64},
    ResNetDefinition{"resnet101", true, {3, 4, 23, 3}, 1, 64},
    ResNetDefinition{"resnet152", true, {3, 8, 36, 3}, 1, 64},
    ResNetDefinition{"resnext50_32x4d", true, {3, 4, 6, 3}, 32, 4},
    ResNetDefinition{"resnext101_32x8d", true, {3, 4, 23, 3}, 32, 8},
    ResNetDefinition{"resnext101_64x4d", true, {3, 4, 23, 3}, 64, 4},
    ResNetDefinition{"resnext101_32x4d", true, {3, 4, 23, 3}, 32, 4, "nvidia", kNvidia},
    ResNetDefinition{"se_resnext101_32x4d", true, {3, 4, 23, 3}, 32, 4, "nvidia", kNvidia, 16},
    ResNetDefinition{"swsl_resnext101_32x16d", true, {3, 4, 23, 3}, 32, 16, "timm", kWeaklySupervised},
    ResNetDefinition{"wide_resnet50_2", true, {3, 4, 6, 3}, 1, 128},
    ResNetDefinition{"wide_resnet101_2", true, {3, 4, 23, 3}, 1, 128},
};

struct Style {
  const ResNetDefinition& definition;
  bool frozen_norm = false;
};

/// `frozen`: a batch norm that is a constant scale and a constant shift, a kernel each (torchvision's FrozenBatchNorm2d).
TensorId convolution_norm(GraphBuilder& g, TensorId x, ConvolutionAttributes a, const std::string& convolution,
                          const std::string& norm, bool frozen) {
  const TensorId y = g.convolution(x, a, convolution);
  if (!frozen) return g.batch_norm(y, norm);
  return g.add(OpKind::mask, {g.add(OpKind::multiply, {y}, MultiplyAttributes{false, true}, norm + ".scale")}, {}, norm);
}

struct Block {
  std::string prefix;
  std::int64_t planes, stride;
};

TensorId residual_branch(GraphBuilder& g, TensorId x, const Style& style, const Block& b) {
  const ResNetDefinition& d = style.definition;
  const std::string& p = b.prefix;
  if (!d.bottleneck) {
    TensorId y = convolution_norm(g, x, same_convolution(b.planes, 3, b.stride), p + "conv1", p + "bn1", style.frozen_norm);
    y = g.relu(y, p + "relu1", true);
    return convolution_norm(g, y, same_convolution(b.planes, 3, 1), p + "conv2", p + "bn2", style.frozen_norm);
  }
  const std::int64_t width = b.planes * d.width_per_group / 64 * d.groups;  // 64: planes of the first stage
  TensorId y = convolution_norm(g, x, same_convolution(width, 1, 1), p + "conv1", p + "bn1", style.frozen_norm);
  y = g.relu(y, p + "relu1", true);
  y = convolution_norm(g, y, same_convolution(width, 3, b.stride, d.groups), p + "conv2", p + "bn2", style.frozen_norm);
  y = g.relu(y, p + "relu2", true);
  return convolution_norm(g, y, same_convolution(4 * b.planes, 1, 1), p + "conv3", p + "bn3", style.frozen_norm);
}

/// A factor for each channel, from the means of all.
TensorId squeeze_excite(GraphBuilder& g, TensorId x, std::int64_t squeeze, const std::string& p) {
  const std::int64_t channels = g.shape(x).front();
  TensorId s = g.flatten(g.global_average_pool(x, p + "mean"), p + "flat");
  s = g.relu(g.linear(s, channels / squeeze, p + "squeeze"), p + "relu", true);
  s = g.activation(g.linear(s, channels, p + "expand"), ActivationKind::sigmoid, p + "sigmoid");
  return g.add(OpKind::multiply, {x, g.reshape(s, {channels, 1, 1}, p + "view")}, {}, p + "scale");
}

TensorId residual_block(GraphBuilder& g, TensorId x, const Style& style, const Block& b) {
  const ResNetDefinition& d = style.definition;
  const std::int64_t out_channels = (d.bottleneck ? 4 : 1) * b.planes;
  const bool projects = b.stride != 1 || g.shape(x)[0] != out_channels;
  TensorId y = residual_branch(g, x, style, b);
  if (d.squeeze > 0) y = squeeze_excite(g, y, d.squeeze, b.prefix + "squeeze.");
  TensorId shortcut = x;
  if (projects)
    shortcut = convolution_norm(g, x, same_convolution(out_channels, 1, b.stride), b.prefix + "downsample.0",
                                b.prefix + "downsample.1", style.frozen_norm);
  const TensorId sum = g.add(OpKind::add, {y, shortcut}, {}, b.prefix + "add", true);
  return g.relu(sum, b.prefix + "relu", true);
}

const ResNetDefinition& definition_of(std::string_view name) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == name; });
  assert(d != kDefinitions.end());
  return *d;
}

TensorId stage_of(GraphBuilder& g, TensorId x, const Style& style, int stage, std::int64_t stride) {
  for (int i = 0; i < style.definition.blocks[static_cast<std::size_t>(stage - 1)]; ++i)
    x = residual_block(g, x, style, {fmt::format("layer{}.{}.", stage, i), std::int64_t{64} << (stage - 1), i == 0 ? stride : 1});
  return x;
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  TensorId x = resnet_trunk(g, {entry.name}).back();
  x = g.flatten(g.global_average_pool(x, "avgpool"), "flatten");
  x = g.linear(x, options.classes.value_or(1000), "fc");
  g.softmax_loss(x, "loss");
  return std::move(g).finish();
}

}  // namespace

std::vector<TensorId> resnet_trunk(GraphBuilder& g, const ResNetTrunk& trunk) {
  const Style style{definition_of(trunk.name), trunk.frozen_norm};
  if (trunk.frozen_stages > 0) g.set_weights(GraphBuilder::Weights::frozen);
  TensorId x = convolution_norm(g, g.input(), same_convolution(64, 7, 2), "conv1", "bn1", trunk.frozen_norm);
  x = g.relu(x, "relu", true);
  x = g.pool(x, square_pool(PoolKind::max, 3, 2, 1), "maxpool");
  std::vector<TensorId> maps;
  for (int stage = 1; stage <= trunk.stages; ++stage) {
    x = stage_of(g, x, style, stage, stage == 1 ? 1 : stage == trunk.stages ? trunk.stride : 2);
    if (stage == trunk.frozen_stages) g.set_weights(GraphBuilder::Weights::own);
    maps.push_back(x);
  }
  return maps;
}

TensorId resnet_stage(GraphBuilder& g, TensorId x, std::string_view name, int stage, std::int64_t stride) {
  return stage_of(g, x, {definition_of(name)}, stage, stride);
}

void append_resnet(std::vector<ZooEntry>& entries) {
  for (const ResNetDefinition& d : kDefinitions) {
    entries.push_back(image_classifier(std::string(d.name), d.variant, d.source, build));
    // The Torch7 models are the same graphs: torchvision took its ResNet over from there.
    if (d.groups == 1 && d.width_per_group == 64)
      entries.push_back(image_classifier(std::string(d.name), "torch7", kTorch7, build));
  }
}

}  // namespace tbdsim
