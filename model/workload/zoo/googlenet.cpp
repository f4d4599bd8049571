#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr PoolAttributes kHalve = square_pool(PoolKind::max, 3, 2, 0, true);

TensorId unit(GraphBuilder& g, TensorId x, ConvolutionAttributes a, const std::string& name) {
  return g.relu(g.batch_norm(g.convolution(x, a, name + ".conv"), name + ".bn"), name + ".relu", true);
}

struct Module {
  std::int64_t one, three_reduce, three, five_reduce, five, projection;
};

TensorId inception(GraphBuilder& g, TensorId x, const Module& m, const std::string& p) {
  const TensorId b1 = unit(g, x, same_convolution(m.one, 1), p + ".branch1");
  TensorId b2 = unit(g, x, same_convolution(m.three_reduce, 1), p + ".branch2.0");
  b2 = unit(g, b2, same_convolution(m.three, 3), p + ".branch2.1");
  TensorId b3 = unit(g, x, same_convolution(m.five_reduce, 1), p + ".branch3.0");
  b3 = unit(g, b3, same_convolution(m.five, 3), p + ".branch3.1");  // 3x3 where the paper has 5x5, as torchvision does
  TensorId b4 = g.pool(x, square_pool(PoolKind::max, 3, 1, 1, true), p + ".branch4.0");
  b4 = unit(g, b4, same_convolution(m.projection, 1), p + ".branch4.1");
  return g.concat({b1, b2, b3, b4}, p + ".concat");
}

TensorId auxiliary_head(GraphBuilder& g, TensorId x, std::int64_t classes, const std::string& p) {
  x = adaptive_average_pool(g, x, 4, p + ".pool");
  x = g.flatten(unit(g, x, same_convolution(128, 1), p + ".conv"), p + ".flatten");
  x = g.relu(g.linear(x, 1024, p + ".fc1"), p + ".relu", true);
  return g.linear(g.dropout(x, 0.7, p + ".dropout"), classes, p + ".fc2");
}

/// Szegedy et al., arXiv:1409.4842, with batch norm and both auxiliary heads, as torchvision trains it.
Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const std::int64_t classes = options.classes.value_or(1000);
  GraphBuilder g = image_builder(entry, options);
  TensorId x = g.pool(unit(g, g.input(), same_convolution(64, 7, 2), "conv1"), kHalve, "maxpool1");
  x = unit(g, x, same_convolution(64, 1), "conv2");
  x = g.pool(unit(g, x, same_convolution(192, 3), "conv3"), kHalve, "maxpool2");
  x = inception(g, x, {64, 96, 128, 16, 32, 32}, "inception3a");
  x = inception(g, x, {128, 128, 192, 32, 96, 64}, "inception3b");
  x = g.pool(x, kHalve, "maxpool3");
  x = inception(g, x, {192, 96, 208, 16, 48, 64}, "inception4a");
  const TensorId first = auxiliary_head(g, x, classes, "aux1");
  x = inception(g, x, {160, 112, 224, 24, 64, 64}, "inception4b");
  x = inception(g, x, {128, 128, 256, 24, 64, 64}, "inception4c");
  x = inception(g, x, {112, 144, 288, 32, 64, 64}, "inception4d");
  const TensorId second = auxiliary_head(g, x, classes, "aux2");
  x = inception(g, x, {256, 160, 320, 32, 128, 128}, "inception4e");
  x = g.pool(x, square_pool(PoolKind::max, 2, 2, 0, true), "maxpool4");
  x = inception(g, x, {256, 160, 320, 32, 128, 128}, "inception5a");
  x = inception(g, x, {384, 192, 384, 48, 128, 128}, "inception5b");
  x = g.flatten(g.global_average_pool(x, "avgpool"), "flatten");
  x = g.linear(g.dropout(x, 0.2, "dropout"), classes, "fc");
  g.softmax_loss(second, "auxiliary_loss2");
  g.softmax_loss(first, "auxiliary_loss1");
  g.softmax_loss(x, "loss");
  return std::move(g).finish();
}

}  // namespace

void append_googlenet(std::vector<ZooEntry>& entries) {
  entries.push_back(image_classifier("googlenet", "torchvision", "torchvision 0.14, torchvision/models/googlenet.py", build));
}

}  // namespace tbdsim
