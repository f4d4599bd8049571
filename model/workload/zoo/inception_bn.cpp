#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

TensorId unit(GraphBuilder& g, TensorId x, ConvolutionAttributes a, const std::string& name) {
  a.bias = true;
  return g.relu(g.batch_norm(g.convolution(x, a, "conv_" + name), "bn_" + name), "relu_" + name);
}

/// Ioffe & Szegedy, arXiv:1502.03167, table A: a module without 1x1 branch (`one` 0) halves the image.
struct Module {
  const char* name;
  std::int64_t one, three_reduce, three, double_reduce, double_three;
  PoolKind pool;
  std::int64_t projection;
};

TensorId inception(GraphBuilder& g, TensorId x, const Module& m) {
  const std::string p = m.name;
  const std::int64_t stride = m.one == 0 ? 2 : 1;
  std::vector<TensorId> parts;
  if (m.one > 0) parts.push_back(unit(g, x, same_convolution(m.one, 1), p + "_1x1"));
  const TensorId three = unit(g, x, same_convolution(m.three_reduce, 1), p + "_3x3_reduce");
  parts.push_back(unit(g, three, same_convolution(m.three, 3, stride), p + "_3x3"));
  TensorId twice = unit(g, x, same_convolution(m.double_reduce, 1), p + "_double_3x3_reduce");
  twice = unit(g, twice, same_convolution(m.double_three, 3), p + "_double_3x3_0");
  parts.push_back(unit(g, twice, same_convolution(m.double_three, 3, stride), p + "_double_3x3_1"));
  const std::string kind = m.pool == PoolKind::max ? "max" : "avg";
  const TensorId pooled = g.pool(x, square_pool(m.pool, 3, stride, 1), kind + "_pool_" + p + "_pool");
  parts.push_back(m.projection == 0 ? pooled : unit(g, pooled, same_convolution(m.projection, 1), p + "_proj"));
  return g.concat(std::move(parts), "ch_concat_" + p + "_chconcat");
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  TensorId x = unit(g, g.input(), same_convolution(64, 7, 2), "1");
  x = g.pool(x, square_pool(PoolKind::max, 3, 2), "pool_1");
  x = unit(g, x, same_convolution(64, 1), "2_red");
  x = unit(g, x, same_convolution(192, 3), "2");
  x = g.pool(x, square_pool(PoolKind::max, 3, 2), "pool_2");
  x = inception(g, x, {"3a", 64, 64, 64, 64, 96, PoolKind::average, 32});
  x = inception(g, x, {"3b", 64, 64, 96, 64, 96, PoolKind::average, 64});
  x = inception(g, x, {"3c", 0, 128, 160, 64, 96, PoolKind::max, 0});
  x = inception(g, x, {"4a", 224, 64, 96, 96, 128, PoolKind::average, 128});
  x = inception(g, x, {"4b", 192, 96, 128, 96, 128, PoolKind::average, 128});
  x = inception(g, x, {"4c", 160, 128, 160, 128, 160, PoolKind::average, 128});
  x = inception(g, x, {"4d", 96, 128, 192, 160, 192, PoolKind::average, 128});
  x = inception(g, x, {"4e", 0, 128, 192, 192, 256, PoolKind::max, 0});
  x = inception(g, x, {"5a", 352, 192, 320, 160, 224, PoolKind::average, 128});
  x = inception(g, x, {"5b", 352, 192, 320, 192, 224, PoolKind::max, 128});
  x = g.pool(x, square_pool(PoolKind::average, 7, 1), "global_pool");
  x = g.linear(g.flatten(x, "flatten0"), options.classes.value_or(1000), "fullyconnected0");
  g.softmax_loss(x, "softmax");
  return std::move(g).finish();
}

}  // namespace

void append_inception_bn(std::vector<ZooEntry>& entries) {
  entries.push_back(
      image_classifier("inception_bn", "mxnet", "apache/mxnet example/image-classification/symbols/inception-bn.py", build));
}

}  // namespace tbdsim
