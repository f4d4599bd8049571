#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/tf_layers.hpp"

namespace tbdsim {
namespace {

/// Simonyan & Zisserman, arXiv:1409.1556: convolutions per stage of configurations A, B, D and E.
struct VggDefinition {
  std::string_view name;
  std::array<int, 5> convolutions;
};

constexpr std::array kDefinitions = {
    VggDefinition{"vgg11", {1, 1, 2, 2, 2}},
    VggDefinition{"vgg13", {2, 2, 2, 2, 2}},
    VggDefinition{"vgg16", {2, 2, 3, 3, 3}},
    VggDefinition{"vgg19", {2, 2, 4, 4, 4}},
};
constexpr std::array<std::int64_t, 5> kChannels = {64, 128, 256, 512, 512};
constexpr std::string_view kNormSuffix = "_bn";
constexpr PoolAttributes kHalve = square_pool(PoolKind::max, 2, 2);

const VggDefinition& definition(std::string_view name) {
  const std::string_view base = name.substr(0, 5);  // "vgg16" of "vgg16_bn"
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == base; });
  assert(d != kDefinitions.end());
  return *d;
}

Result<OpGraph> build_torchvision(const ZooEntry& entry, const ZooOptions& options) {
  const VggDefinition& d = definition(entry.name);
  const bool norm = entry.name.ends_with(kNormSuffix);
  GraphBuilder g = image_builder(entry, options);
  int index = 0;
  const auto next = [&index] { return fmt::format("features.{}", index++); };
  TensorId x = g.input();
  for (std::size_t stage = 0; stage < kChannels.size(); ++stage) {
    for (int i = 0; i < d.convolutions[stage]; ++i) {
      x = g.convolution(x, same_convolution(kChannels[stage], 3, 1, 1, true), next());
      if (norm) x = g.batch_norm(x, next());
      x = g.relu(x, next(), true);
    }
    x = g.pool(x, kHalve, next());
  }
  x = g.flatten(adaptive_average_pool(g, x, 7, "avgpool"), "flatten");
  x = g.dropout(g.relu(g.linear(x, 4096, "classifier.0"), "classifier.1", true), 0.5, "classifier.2");
  x = g.dropout(g.relu(g.linear(x, 4096, "classifier.3"), "classifier.4", true), 0.5, "classifier.5");
  x = g.linear(x, options.classes.value_or(1000), "classifier.6");
  g.softmax_loss(x, "loss");
  return std::move(g).finish();
}

/// MXNet's symbols; Torch7 benchmarks load the same layers from Caffe, with ReLU in place.
Result<OpGraph> build_plain(const ZooEntry& entry, const ZooOptions& options) {
  const VggDefinition& d = definition(entry.name);
  const bool inplace = entry.variant == "torch7";
  GraphBuilder g = image_builder(entry, options);
  TensorId x = g.input();
  for (std::size_t stage = 0; stage < kChannels.size(); ++stage) {
    for (int i = 0; i < d.convolutions[stage]; ++i) {
      x = g.convolution(x, same_convolution(kChannels[stage], 3, 1, 1, true), fmt::format("conv{}_{}", stage + 1, i + 1));
      x = g.relu(x, fmt::format("relu{}_{}", stage + 1, i + 1), inplace);
    }
    x = g.pool(x, kHalve, fmt::format("pool{}", stage + 1));
  }
  x = g.flatten(x, "flatten");
  x = g.dropout(g.relu(g.linear(x, 4096, "fc6"), "relu6", inplace), 0.5, "drop6");
  x = g.dropout(g.relu(g.linear(x, 4096, "fc7"), "relu7", inplace), 0.5, "drop7");
  g.softmax_loss(g.linear(x, options.classes.value_or(1000), "fc8"), "softmax");
  return std::move(g).finish();
}

Result<OpGraph> build_tf(const ZooEntry& entry, const ZooOptions& options) {
  const VggDefinition& d = definition(entry.name);
  GraphBuilder g = image_builder(entry, options);
  TfLayers layers(g, TfLayers::Norm::none);
  TensorId x = g.input();
  for (std::size_t stage = 0; stage < kChannels.size(); ++stage) {
    for (int i = 0; i < d.convolutions[stage]; ++i) x = layers.convolution(x, {kChannels[stage], 3, 3});
    x = layers.pool(x, PoolKind::max, 2, 2);
  }
  x = g.flatten(x, "reshape");
  x = layers.dropout(layers.affine(x, 4096), 0.5);
  x = layers.dropout(layers.affine(x, 4096), 0.5);
  layers.classify(x, options.classes);
  return std::move(g).finish();
}

}  // namespace

void append_vgg(std::vector<ZooEntry>& entries) {
  for (const VggDefinition& d : kDefinitions) {
    const std::string name(d.name);
    entries.push_back(image_classifier(name, "torchvision", "torchvision 0.14, torchvision/models/vgg.py", build_torchvision));
    entries.push_back(image_classifier(name + std::string(kNormSuffix), "torchvision",
                                       "torchvision 0.14, torchvision/models/vgg.py", build_torchvision));
    entries.push_back(image_classifier(name, "mxnet", "apache/mxnet example/image-classification/symbols/vgg.py", build_plain));
    if (name == "vgg16" || name == "vgg19")
      entries.push_back(
          image_classifier(name, "torch7", "Caffe model zoo, VGG_ILSVRC_16/19_layers_deploy.prototxt", build_plain));
    if (name != "vgg13")
      entries.push_back(
          image_classifier(name, "tf", "tensorflow/benchmarks, scripts/tf_cnn_benchmarks/models/vgg_model.py", build_tf));
  }
}

}  // namespace tbdsim
