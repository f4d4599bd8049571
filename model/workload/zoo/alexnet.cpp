#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/tf_layers.hpp"

namespace tbdsim {
namespace {

constexpr PoolAttributes kPool = square_pool(PoolKind::max, 3, 2);
constexpr PoolAttributes kCaffePool = square_pool(PoolKind::max, 3, 2, 0, true);

ConvolutionAttributes biased(std::int64_t channels, std::int64_t kernel, std::int64_t groups = 1) {
  return same_convolution(channels, kernel, 1, groups, true);
}

/// Krizhevsky, "One weird trick" (arXiv:1404.5997), as torchvision has it.
Result<OpGraph> build_torchvision(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  TensorId x = g.convolution(g.input(), {64, 11, 11, 4, 4, 2, 2, 1, 1, true}, "features.0");
  x = g.pool(g.relu(x, "features.1", true), kPool, "features.2");
  x = g.relu(g.convolution(x, biased(192, 5), "features.3"), "features.4", true);
  x = g.pool(x, kPool, "features.5");
  x = g.relu(g.convolution(x, biased(384, 3), "features.6"), "features.7", true);
  x = g.relu(g.convolution(x, biased(256, 3), "features.8"), "features.9", true);
  x = g.relu(g.convolution(x, biased(256, 3), "features.10"), "features.11", true);
  x = g.pool(x, kPool, "features.12");
  x = g.flatten(adaptive_average_pool(g, x, 6, "avgpool"), "flatten");
  x = g.linear(g.dropout(x, 0.5, "classifier.0"), 4096, "classifier.1");
  x = g.dropout(g.relu(x, "classifier.2", true), 0.5, "classifier.3");
  x = g.relu(g.linear(x, 4096, "classifier.4"), "classifier.5", true);
  x = g.linear(x, options.classes.value_or(1000), "classifier.6");
  g.softmax_loss(x, "loss");
  return std::move(g).finish();
}

/// Krizhevsky et al., NIPS 2012, in one tower (MXNet) or with the grouped convolutions of two (Caffe, which Torch7
/// benchmarks load).
Result<OpGraph> build_with_norm(const ZooEntry& entry, const ZooOptions& options) {
  const bool caffe = entry.variant == "torch7";
  const std::int64_t towers = caffe ? 2 : 1;
  const PoolAttributes pool = caffe ? kCaffePool : kPool;
  GraphBuilder g = image_builder(entry, options);
  const auto norm = [&g](TensorId y, const char* name) {
    return g.add(OpKind::local_response_norm, {y}, LocalResponseNormAttributes{5}, name);
  };
  TensorId x = g.relu(g.convolution(g.input(), valid_convolution(96, 11, 4, true), "conv1"), "relu1", caffe);
  x = g.pool(norm(x, "norm1"), pool, "pool1");
  x = g.relu(g.convolution(x, biased(256, 5, towers), "conv2"), "relu2", caffe);
  x = g.pool(norm(x, "norm2"), pool, "pool2");
  x = g.relu(g.convolution(x, biased(384, 3), "conv3"), "relu3", caffe);
  x = g.relu(g.convolution(x, biased(384, 3, towers), "conv4"), "relu4", caffe);
  x = g.relu(g.convolution(x, biased(256, 3, towers), "conv5"), "relu5", caffe);
  x = g.flatten(g.pool(x, pool, "pool5"), "flatten0");
  x = g.dropout(g.relu(g.linear(x, 4096, caffe ? "fc6" : "fc1"), "relu6", caffe), 0.5, "dropout0");
  x = g.dropout(g.relu(g.linear(x, 4096, caffe ? "fc7" : "fc2"), "relu7", caffe), 0.5, "dropout1");
  x = g.linear(x, options.classes.value_or(1000), caffe ? "fc8" : "fc3");
  g.softmax_loss(x, "softmax");
  return std::move(g).finish();
}

Result<OpGraph> build_tf(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  TfLayers layers(g, TfLayers::Norm::none);
  TensorId x = layers.convolution(g.input(), {64, 11, 11, 4, TfLayers::Padding::valid});
  x = layers.pool(x, PoolKind::max, 3, 2);
  x = layers.pool(layers.convolution(x, {192, 5, 5}), PoolKind::max, 3, 2);
  x = layers.convolution(x, {384, 3, 3});
  x = layers.convolution(x, {384, 3, 3});
  x = layers.convolution(x, {256, 3, 3});
  x = g.flatten(layers.pool(x, PoolKind::max, 3, 2), "reshape");
  x = layers.dropout(layers.affine(x, 4096), 0.5);
  x = layers.dropout(layers.affine(x, 4096), 0.5);
  layers.classify(x, options.classes);
  return std::move(g).finish();
}

}  // namespace

void append_alexnet(std::vector<ZooEntry>& entries) {
  entries.push_back(
      image_classifier("alexnet", "torchvision", "torchvision 0.14, torchvision/models/alexnet.py", build_torchvision));
  entries.push_back(
      image_classifier("alexnet", "mxnet", "apache/mxnet example/image-classification/symbols/alexnet.py", build_with_norm));
  entries.push_back(image_classifier("alexnet", "torch7", "BVLC/caffe, models/bvlc_alexnet/deploy.prototxt", build_with_norm));
  entries.push_back(image_classifier("alexnet", "tf", "tensorflow/benchmarks, scripts/tf_cnn_benchmarks/models/alexnet_model.py",
                                     build_tf, 227));
}

}  // namespace tbdsim
