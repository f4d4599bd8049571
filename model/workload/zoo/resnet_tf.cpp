#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/tf_layers.hpp"

namespace tbdsim {
namespace {

/// v1 strides in the first 1x1 convolution of a block, v1.5 in the 3x3; v2 is pre-activated v1.
enum class Version { v1, v1_5, v2 };

struct TfDefinition {
  std::string_view name;
  Version version;
  std::array<int, 4> blocks;
};

constexpr std::array kDefinitions = {
    TfDefinition{"resnet50", Version::v1, {3, 4, 6, 3}},      TfDefinition{"resnet101", Version::v1, {3, 4, 23, 3}},
    TfDefinition{"resnet152", Version::v1, {3, 8, 36, 3}},    TfDefinition{"resnet50_v1.5", Version::v1_5, {3, 4, 6, 3}},
    TfDefinition{"resnet50_v2", Version::v2, {3, 4, 6, 3}},   TfDefinition{"resnet101_v2", Version::v2, {3, 4, 23, 3}},
    TfDefinition{"resnet152_v2", Version::v2, {3, 8, 36, 3}},
};

using Convolution = TfLayers::Convolution;
constexpr auto kSame = TfLayers::Padding::same;
constexpr auto kResnet = TfLayers::Padding::resnet;

TensorId block(GraphBuilder& g, TfLayers& normed, TensorId x, std::int64_t planes, std::int64_t stride, Version version) {
  const std::int64_t depth = 4 * planes;
  const std::int64_t in = g.shape(x)[0];
  const std::int64_t first = version == Version::v1_5 ? 1 : stride;
  TensorId shortcut = x;
  if (depth != in) shortcut = normed.convolution(x, {depth, 1, 1, stride, kSame, false});
  TensorId y = normed.convolution(x, {planes, 1, 1, first});
  y = normed.convolution(y, {planes, 3, 3, stride / first, kResnet});
  y = normed.convolution(y, {depth, 1, 1, 1, kSame, false});
  return g.relu(g.plus(shortcut, y));
}

/// The projection and the last convolution of a pre-activated block have neither batch norm nor bias.
TensorId block_v2(GraphBuilder& g, TfLayers& normed, TensorId x, std::int64_t planes, std::int64_t stride) {
  const std::int64_t depth = 4 * planes;
  const TensorId active = normed.norm_relu(x);
  TensorId shortcut = x;
  if (depth != g.shape(x)[0]) shortcut = g.convolution(active, same_convolution(depth, 1, stride));
  TensorId y = normed.convolution(active, {planes, 1, 1, stride});
  y = normed.convolution(y, {planes, 3, 3, 1, kResnet});
  y = g.convolution(y, same_convolution(depth, 1));
  return g.plus(shortcut, y);
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  TfLayers layers(g, TfLayers::Norm::scaled);
  TensorId x = layers.convolution(g.input(), {64, 7, 7, 2, kResnet});
  x = layers.pool(x, PoolKind::max, 3, 2, kSame);
  for (std::size_t stage = 0; stage < d->blocks.size(); ++stage) {
    const std::int64_t planes = std::int64_t{64} << stage;
    for (int i = 0; i < d->blocks[stage]; ++i) {
      const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      x = d->version == Version::v2 ? block_v2(g, layers, x, planes, stride) : block(g, layers, x, planes, stride, d->version);
    }
  }
  if (d->version == Version::v2) x = layers.norm_relu(x);
  layers.classify(layers.spatial_mean(x), options.classes);
  return std::move(g).finish();
}

}  // namespace

void append_resnet_tf(std::vector<ZooEntry>& entries) {
  for (const TfDefinition& d : kDefinitions)
    entries.push_back(image_classifier(std::string(d.name), "tf",
                                       "tensorflow/benchmarks, scripts/tf_cnn_benchmarks/models/resnet_model.py", build));
}

}  // namespace tbdsim
