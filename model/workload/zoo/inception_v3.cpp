#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr PoolAttributes kKeepingAverage = square_pool(PoolKind::average, 3, 1, 1);
constexpr PoolAttributes kReduction = square_pool(PoolKind::max, 3, 2);

/// torchvision's BasicConv2d: convolution without bias, batch norm, ReLU in place.
TensorId unit(GraphBuilder& g, TensorId x, ConvolutionAttributes a, const std::string& name) {
  return g.relu(g.batch_norm(g.convolution(x, a, name + ".conv"), name + ".bn"), name + ".relu", true);
}

/// A row or a column of `length`, padded to keep the size.
constexpr ConvolutionAttributes row(std::int64_t channels, std::int64_t length) {
  return {channels, 1, length, 1, 1, 0, length / 2, 1, 1, false};
}
constexpr ConvolutionAttributes column(std::int64_t channels, std::int64_t length) {
  return {channels, length, 1, 1, 1, length / 2, 0, 1, 1, false};
}

TensorId pool_branch(GraphBuilder& g, TensorId x, std::int64_t channels, const std::string& p) {
  return unit(g, g.pool(x, kKeepingAverage, p + "pool"), same_convolution(channels, 1), p + "branch_pool");
}

TensorId module_a(GraphBuilder& g, TensorId x, std::int64_t pool_channels, const std::string& p) {
  const TensorId b1 = unit(g, x, same_convolution(64, 1), p + "branch1x1");
  TensorId b5 = unit(g, x, same_convolution(48, 1), p + "branch5x5_1");
  b5 = unit(g, b5, same_convolution(64, 5), p + "branch5x5_2");
  TensorId b3 = unit(g, x, same_convolution(64, 1), p + "branch3x3dbl_1");
  b3 = unit(g, b3, same_convolution(96, 3), p + "branch3x3dbl_2");
  b3 = unit(g, b3, same_convolution(96, 3), p + "branch3x3dbl_3");
  return g.concat({b1, b5, b3, pool_branch(g, x, pool_channels, p)}, p + "concat");
}

TensorId module_b(GraphBuilder& g, TensorId x, const std::string& p) {
  const TensorId b3 = unit(g, x, valid_convolution(384, 3, 2), p + "branch3x3");
  TensorId bd = unit(g, x, same_convolution(64, 1), p + "branch3x3dbl_1");
  bd = unit(g, bd, same_convolution(96, 3), p + "branch3x3dbl_2");
  bd = unit(g, bd, valid_convolution(96, 3, 2), p + "branch3x3dbl_3");
  return g.concat({b3, bd, g.pool(x, kReduction, p + "pool")}, p + "concat");
}

TensorId module_c(GraphBuilder& g, TensorId x, std::int64_t c7, const std::string& p) {
  const TensorId b1 = unit(g, x, same_convolution(192, 1), p + "branch1x1");
  TensorId b7 = unit(g, x, same_convolution(c7, 1), p + "branch7x7_1");
  b7 = unit(g, b7, row(c7, 7), p + "branch7x7_2");
  b7 = unit(g, b7, column(192, 7), p + "branch7x7_3");
  TensorId bd = unit(g, x, same_convolution(c7, 1), p + "branch7x7dbl_1");
  bd = unit(g, bd, column(c7, 7), p + "branch7x7dbl_2");
  bd = unit(g, bd, row(c7, 7), p + "branch7x7dbl_3");
  bd = unit(g, bd, column(c7, 7), p + "branch7x7dbl_4");
  bd = unit(g, bd, row(192, 7), p + "branch7x7dbl_5");
  return g.concat({b1, b7, bd, pool_branch(g, x, 192, p)}, p + "concat");
}

TensorId module_d(GraphBuilder& g, TensorId x, const std::string& p) {
  TensorId b3 = unit(g, x, same_convolution(192, 1), p + "branch3x3_1");
  b3 = unit(g, b3, valid_convolution(320, 3, 2), p + "branch3x3_2");
  TensorId b7 = unit(g, x, same_convolution(192, 1), p + "branch7x7x3_1");
  b7 = unit(g, b7, row(192, 7), p + "branch7x7x3_2");
  b7 = unit(g, b7, column(192, 7), p + "branch7x7x3_3");
  b7 = unit(g, b7, valid_convolution(192, 3, 2), p + "branch7x7x3_4");
  return g.concat({b3, b7, g.pool(x, kReduction, p + "pool")}, p + "concat");
}

TensorId module_e(GraphBuilder& g, TensorId x, const std::string& p) {
  const TensorId b1 = unit(g, x, same_convolution(320, 1), p + "branch1x1");
  const TensorId b3 = unit(g, x, same_convolution(384, 1), p + "branch3x3_1");
  const TensorId b3a = unit(g, b3, row(384, 3), p + "branch3x3_2a");
  const TensorId b3b = unit(g, b3, column(384, 3), p + "branch3x3_2b");
  const TensorId three = g.concat({b3a, b3b}, p + "branch3x3");
  TensorId bd = unit(g, x, same_convolution(448, 1), p + "branch3x3dbl_1");
  bd = unit(g, bd, same_convolution(384, 3), p + "branch3x3dbl_2");
  const TensorId bda = unit(g, bd, row(384, 3), p + "branch3x3dbl_3a");
  const TensorId bdb = unit(g, bd, column(384, 3), p + "branch3x3dbl_3b");
  const TensorId twice = g.concat({bda, bdb}, p + "branch3x3dbl");
  return g.concat({b1, three, twice, pool_branch(g, x, 192, p)}, p + "concat");
}

TensorId auxiliary_head(GraphBuilder& g, TensorId x, std::int64_t classes) {
  x = g.pool(x, square_pool(PoolKind::average, 5, 3), "AuxLogits.pool");
  x = unit(g, x, same_convolution(128, 1), "AuxLogits.conv0");
  x = unit(g, x, valid_convolution(768, 5), "AuxLogits.conv1");
  x = g.flatten(g.global_average_pool(x, "AuxLogits.avgpool"), "AuxLogits.flatten");
  return g.linear(x, classes, "AuxLogits.fc");
}

/// Szegedy et al., arXiv:1512.00567, with the auxiliary head that torchvision trains along.
Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const std::int64_t classes = options.classes.value_or(1000);
  GraphBuilder g = image_builder(entry, options);
  TensorId x = unit(g, g.input(), valid_convolution(32, 3, 2), "Conv2d_1a_3x3");
  x = unit(g, x, valid_convolution(32, 3), "Conv2d_2a_3x3");
  x = unit(g, x, same_convolution(64, 3), "Conv2d_2b_3x3");
  x = g.pool(x, kReduction, "maxpool1");
  x = unit(g, x, same_convolution(80, 1), "Conv2d_3b_1x1");
  x = unit(g, x, valid_convolution(192, 3), "Conv2d_4a_3x3");
  x = g.pool(x, kReduction, "maxpool2");
  x = module_a(g, x, 32, "Mixed_5b.");
  x = module_a(g, x, 64, "Mixed_5c.");
  x = module_a(g, x, 64, "Mixed_5d.");
  x = module_b(g, x, "Mixed_6a.");
  x = module_c(g, x, 128, "Mixed_6b.");
  x = module_c(g, x, 160, "Mixed_6c.");
  x = module_c(g, x, 160, "Mixed_6d.");
  x = module_c(g, x, 192, "Mixed_6e.");
  const TensorId auxiliary = auxiliary_head(g, x, classes);
  x = module_d(g, x, "Mixed_7a.");
  x = module_e(g, x, "Mixed_7b.");
  x = module_e(g, x, "Mixed_7c.");
  x = g.dropout(g.global_average_pool(x, "avgpool"), 0.5, "dropout");
  x = g.linear(g.flatten(x, "flatten"), classes, "fc");
  g.softmax_loss(auxiliary, "auxiliary_loss");
  g.softmax_loss(x, "loss");
  return std::move(g).finish();
}

}  // namespace

void append_inception_v3(std::vector<ZooEntry>& entries) {
  entries.push_back(
      image_classifier("inception_v3", "torchvision", "torchvision 0.14, torchvision/models/inception.py", build, 299));
}

}  // namespace tbdsim
