#include <array>
#include <string_view>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/tf_layers.hpp"

namespace tbdsim {
namespace {

/// Szegedy et al., arXiv:1409.4842, table 1: without batch norm and, as these frameworks run it, without auxiliary heads.
struct Module {
  std::string_view name;
  std::int64_t one, three_reduce, three, five_reduce, five, projection;
  bool pool_after;
};
constexpr std::array kModules = {
    Module{"in3a", 64, 96, 128, 16, 32, 32, false},     Module{"in3b", 128, 128, 192, 32, 96, 64, true},
    Module{"in4a", 192, 96, 208, 16, 48, 64, false},    Module{"in4b", 160, 112, 224, 24, 64, 64, false},
    Module{"in4c", 128, 128, 256, 24, 64, 64, false},   Module{"in4d", 112, 144, 288, 32, 64, 64, false},
    Module{"in4e", 256, 160, 320, 32, 128, 128, true},  Module{"in5a", 256, 160, 320, 32, 128, 128, false},
    Module{"in5b", 384, 192, 384, 48, 128, 128, false},
};

/// Convolution and ReLU, which Caffe computes in place.
struct Unit {
  GraphBuilder& g;
  bool inplace;
  TensorId operator()(TensorId x, ConvolutionAttributes a, const std::string& name) const {
    a.bias = true;
    return g.relu(g.convolution(x, a, "conv_" + name), "relu_" + name, inplace);
  }
};

TensorId inception(const Unit& unit, TensorId x, const Module& m) {
  GraphBuilder& g = unit.g;
  const std::string p(m.name);
  const TensorId b1 = unit(x, same_convolution(m.one, 1), p + "_1x1");
  TensorId b3 = unit(x, same_convolution(m.three_reduce, 1), p + "_3x3_reduce");
  b3 = unit(b3, same_convolution(m.three, 3), p + "_3x3");
  TensorId b5 = unit(x, same_convolution(m.five_reduce, 1), p + "_5x5_reduce");
  b5 = unit(b5, same_convolution(m.five, 5), p + "_5x5");
  TensorId pooled = g.pool(x, square_pool(PoolKind::max, 3, 1, 1), "max_pool_" + p + "_pool");
  pooled = unit(pooled, same_convolution(m.projection, 1), p + "_proj");
  return g.concat({b1, b3, b5, pooled}, "ch_concat_" + p + "_chconcat");
}

/// MXNet rounds its pools down; its last 7x7 pool therefore needs images larger than 224. Caffe rounds up, normalises
/// twice in the stem and drops out before the classifier.
Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const bool caffe = entry.variant == "torch7";
  const PoolAttributes halve = square_pool(PoolKind::max, 3, 2, 0, caffe);
  GraphBuilder g = image_builder(entry, options);
  const Unit unit{g, caffe};
  const auto norm = [&](TensorId y, const char* name) {
    return caffe ? g.add(OpKind::local_response_norm, {y}, LocalResponseNormAttributes{5}, name) : y;
  };
  TensorId x = unit(g.input(), same_convolution(64, 7, 2), "conv1");
  x = norm(g.pool(x, halve, "pooling0"), "norm1");
  x = unit(x, same_convolution(64, 1), "conv2");
  x = norm(unit(x, same_convolution(192, 3), "conv3"), "norm2");
  x = g.pool(x, halve, "pooling1");
  for (const Module& m : kModules) {
    x = inception(unit, x, m);
    if (m.pool_after) x = g.pool(x, halve, std::string(m.name) + "_pooling");
  }
  x = g.pool(x, square_pool(PoolKind::average, 7, 1), "pooling4");
  if (caffe) x = g.dropout(x, 0.4, "dropout0");
  x = g.linear(g.flatten(x, "flatten0"), options.classes.value_or(1000), "fullyconnected0");
  g.softmax_loss(x, "softmax");
  return std::move(g).finish();
}

Result<OpGraph> build_tf(const ZooEntry& entry, const ZooOptions& options) {
  using Step = TfLayers::Step;
  constexpr auto kSame = TfLayers::Padding::same;
  const auto convolution = [](std::int64_t channels, std::int64_t kernel) {
    return Step{Step::Kind::convolution, {channels, kernel, kernel}};
  };
  GraphBuilder g = image_builder(entry, options);
  TfLayers layers(g, TfLayers::Norm::none);
  TensorId x = layers.pool(layers.convolution(g.input(), {64, 7, 7, 2}), PoolKind::max, 3, 2, kSame);
  x = layers.convolution(layers.convolution(x, {64, 1, 1}), {192, 3, 3});
  x = layers.pool(x, PoolKind::max, 3, 2, kSame);
  for (const Module& m : kModules) {
    x = layers.inception(x, {{convolution(m.one, 1)},
                             {convolution(m.three_reduce, 1), convolution(m.three, 3)},
                             {convolution(m.five_reduce, 1), convolution(m.five, 5)},
                             {Step{Step::Kind::max_pool, {}, 3, 1, kSame}, convolution(m.projection, 1)}});
    if (m.pool_after) x = layers.pool(x, PoolKind::max, 3, 2, kSame);
  }
  x = g.flatten(layers.pool(x, PoolKind::average, 7, 1), "reshape");
  layers.classify(x, options.classes);
  return std::move(g).finish();
}

}  // namespace

void append_googlenet_plain(std::vector<ZooEntry>& entries) {
  entries.push_back(
      image_classifier("googlenet", "mxnet", "apache/mxnet example/image-classification/symbols/googlenet.py", build, 299));
  entries.push_back(image_classifier("googlenet", "torch7", "BVLC/caffe, models/bvlc_googlenet/deploy.prototxt", build));
  entries.push_back(image_classifier("googlenet", "tf",
                                     "tensorflow/benchmarks, scripts/tf_cnn_benchmarks/models/googlenet_model.py", build_tf));
}

}  // namespace tbdsim
