#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

/// Huang et al., arXiv:1608.06993, the bottleneck-compression variant.
struct DenseNetDefinition {
  std::string_view name;
  std::int64_t growth;
  std::array<int, 4> layers;
  std::int64_t first_channels;
};

constexpr std::array kDefinitions = {
    DenseNetDefinition{"densenet121", 32, {6, 12, 24, 16}, 64},
    DenseNetDefinition{"densenet161", 48, {6, 12, 36, 24}, 96},
    DenseNetDefinition{"densenet169", 32, {6, 12, 32, 32}, 64},
    DenseNetDefinition{"densenet201", 32, {6, 12, 48, 32}, 64},
};
constexpr std::int64_t kBottleneck = 4;  // 1x1 convolutions produce this many times the growth

TensorId dense_block(GraphBuilder& g, TensorId x, const DenseNetDefinition& d, std::size_t block) {
  std::vector<TensorId> features{x};
  for (int layer = 0; layer < d.layers[block]; ++layer) {
    const std::string p = fmt::format("features.denseblock{}.denselayer{}.", block + 1, layer + 1);
    TensorId y = features.size() == 1 ? x : g.concat(features, p + "concat");
    y = g.relu(g.batch_norm(y, p + "norm1"), p + "relu1", true);
    y = g.convolution(y, same_convolution(kBottleneck * d.growth, 1), p + "conv1");
    y = g.relu(g.batch_norm(y, p + "norm2"), p + "relu2", true);
    features.push_back(g.convolution(y, same_convolution(d.growth, 3), p + "conv2"));
  }
  return g.concat(std::move(features), fmt::format("features.denseblock{}.concat", block + 1));
}

TensorId transition(GraphBuilder& g, TensorId x, std::size_t block) {
  const std::string p = fmt::format("features.transition{}.", block + 1);
  const std::int64_t channels = g.shape(x)[0] / 2;
  x = g.relu(g.batch_norm(x, p + "norm"), p + "relu", true);
  x = g.convolution(x, same_convolution(channels, 1), p + "conv");
  return g.pool(x, square_pool(PoolKind::average, 2, 2), p + "pool");
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  TensorId x = g.convolution(g.input(), same_convolution(d->first_channels, 7, 2), "features.conv0");
  x = g.relu(g.batch_norm(x, "features.norm0"), "features.relu0", true);
  x = g.pool(x, square_pool(PoolKind::max, 3, 2, 1), "features.pool0");
  for (std::size_t block = 0; block < d->layers.size(); ++block) {
    x = dense_block(g, x, *d, block);
    if (block + 1 < d->layers.size()) x = transition(g, x, block);
  }
  x = g.relu(g.batch_norm(x, "features.norm5"), "relu", true);
  x = g.flatten(g.global_average_pool(x, "avgpool"), "flatten");
  g.softmax_loss(g.linear(x, options.classes.value_or(1000), "classifier"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_densenet(std::vector<ZooEntry>& entries) {
  for (const DenseNetDefinition& d : kDefinitions)
    entries.push_back(
        image_classifier(std::string(d.name), "torchvision", "torchvision 0.14, torchvision/models/densenet.py", build));
}

}  // namespace tbdsim
