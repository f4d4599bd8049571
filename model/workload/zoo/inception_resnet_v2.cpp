#include <fmt/format.h>

#include <array>
#include <vector>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

struct Step {
  std::int64_t channels, kernel_h, kernel_w, stride, pad_h, pad_w;
};
using Tower = std::vector<Step>;

constexpr Step one(std::int64_t channels) { return {channels, 1, 1, 1, 0, 0}; }
constexpr Step three(std::int64_t channels) { return {channels, 3, 3, 1, 1, 1}; }
constexpr Step valid(std::int64_t channels) { return {channels, 3, 3, 1, 0, 0}; }
constexpr Step reduce(std::int64_t channels) { return {channels, 3, 3, 2, 0, 0}; }

/// MXNet's ConvFactory: convolution with bias, batch norm with its gamma fixed at 1, ReLU. The symbol names nothing.
TensorId unit(GraphBuilder& g, TensorId x, const Step& s, bool relu = true) {
  x = g.convolution(x, {s.channels, s.kernel_h, s.kernel_w, s.stride, s.stride, s.pad_h, s.pad_w, 1, 1, true});
  x = g.batch_norm(x, {}, {false});
  return relu ? g.relu(x) : x;
}

TensorId tower(GraphBuilder& g, TensorId x, const Tower& steps) {
  for (const Step& s : steps) x = unit(g, x, s);
  return x;
}

std::vector<TensorId> side_by_side(GraphBuilder& g, TensorId x, const std::vector<Tower>& towers) {
  std::vector<TensorId> parts;
  parts.reserve(towers.size());
  for (const Tower& t : towers) parts.push_back(tower(g, x, t));
  return parts;
}

TensorId reduction(GraphBuilder& g, TensorId x, const std::vector<Tower>& towers) {
  std::vector<TensorId> parts = side_by_side(g, x, towers);
  parts.push_back(g.pool(x, square_pool(PoolKind::max, 3, 2)));
  return g.concat(std::move(parts));
}

/// x + scale * projection(towers); the scale is an operator of its own.
TensorId residual(GraphBuilder& g, TensorId x, const std::vector<Tower>& towers, bool relu = true) {
  const TensorId mixed = g.concat(side_by_side(g, x, towers));
  const TensorId out = unit(g, mixed, one(g.shape(x)[0]), false);
  const TensorId sum = g.plus(x, g.add(OpKind::multiply, {out}));
  return relu ? g.relu(sum) : sum;
}

TensorId stem(GraphBuilder& g) {
  TensorId x = tower(g, g.input(), {reduce(32), valid(32), three(64)});
  x = g.pool(x, square_pool(PoolKind::max, 3, 2));
  x = tower(g, x, {one(80), valid(192)});
  x = g.pool(x, square_pool(PoolKind::max, 3, 2));
  std::vector<TensorId> parts = side_by_side(g, x, {{one(96)}, {one(48), {64, 5, 5, 1, 2, 2}}, {one(64), three(96), three(96)}});
  parts.push_back(tower(g, g.pool(x, square_pool(PoolKind::average, 3, 1, 1)), {one(64)}));
  return g.concat(std::move(parts));
}

/// Szegedy et al., arXiv:1602.07261. The symbol's 129 channels and its unequal paddings of the 1x7 and 7x1
/// convolutions are kept as published.
Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  TensorId x = stem(g);
  const std::vector<Tower> block35 = {{one(32)}, {one(32), three(32)}, {one(32), three(48), three(64)}};
  for (int i = 0; i < 10; ++i) x = residual(g, x, block35);
  x = reduction(g, x, {{reduce(384)}, {one(256), three(256), reduce(384)}});
  const std::vector<Tower> block17 = {{one(192)}, {one(129), {160, 1, 7, 1, 1, 2}, {192, 7, 1, 1, 2, 1}}};
  for (int i = 0; i < 20; ++i) x = residual(g, x, block17);
  x = reduction(g, x, {{one(256), reduce(384)}, {one(256), reduce(288)}, {one(256), three(288), reduce(320)}});
  const std::vector<Tower> block8 = {{one(192)}, {one(192), {224, 1, 3, 1, 0, 1}, {256, 3, 1, 1, 1, 0}}};
  for (int i = 0; i < 9; ++i) x = residual(g, x, block8);
  x = unit(g, residual(g, x, block8, false), one(1536));
  x = g.dropout(g.flatten(g.global_average_pool(x)), 0.2);
  g.softmax_loss(g.linear(x, options.classes.value_or(1000)), "softmax");
  return std::move(g).finish();
}

}  // namespace

void append_inception_resnet_v2(std::vector<ZooEntry>& entries) {
  entries.push_back(image_classifier("inception_resnet_v2", "mxnet",
                                     "apache/mxnet example/image-classification/symbols/inception-resnet-v2.py", build, 299));
}

}  // namespace tbdsim
