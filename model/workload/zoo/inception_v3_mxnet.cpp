#include <fmt/format.h>

#include <array>
#include <vector>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

/// A convolution of a tower: kernel and stride, padded to keep the size unless the stride reduces it.
struct Step {
  std::int64_t channels, kernel_h, kernel_w, stride = 1;
};
using Tower = std::vector<Step>;

/// MXNet's `Conv`: no bias, batch norm with its gamma fixed at 1, ReLU.
TensorId unit(GraphBuilder& g, TensorId x, ConvolutionAttributes a, const std::string& name) {
  x = g.batch_norm(g.convolution(x, a, name + "_conv2d"), name + "_batchnorm", {false});
  return g.relu(x, name + "_relu");
}

TensorId unit(GraphBuilder& g, TensorId x, const Step& s, const std::string& name) {
  const bool keeps = s.stride == 1;
  return unit(g, x,
              {s.channels, s.kernel_h, s.kernel_w, s.stride, s.stride, keeps ? s.kernel_h / 2 : 0, keeps ? s.kernel_w / 2 : 0, 1,
               1, false},
              name);
}

/// `NAME_conv`, `NAME_conv_1`, ...
TensorId tower(GraphBuilder& g, TensorId x, const Tower& steps, const std::string& name) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    x = unit(g, x, steps[i], i == 0 ? name + "_conv" : fmt::format("{}_conv_{}", name, i));
  return x;
}

TensorId pool(GraphBuilder& g, TensorId x, PoolKind kind, std::int64_t stride, const std::string& name) {
  const std::string full = fmt::format("{}_pool_{}_pool", kind == PoolKind::max ? "max" : "avg", name);
  return g.pool(x, square_pool(kind, 3, stride, stride == 1 ? 1 : 0), full);
}

/// Inception7A and 7C: one convolution (0 channels: none), two towers, a pool with a projection (0: none).
struct Module {
  std::int64_t first;
  Tower tower, second_tower;
  PoolKind pool;
  std::int64_t projection;
};

TensorId plain_module(GraphBuilder& g, TensorId x, const Module& m, const std::string& name) {
  std::vector<TensorId> parts;
  const std::int64_t reduction = m.projection == 0 ? 2 : 1;
  if (m.first > 0) {
    const std::int64_t kernel = m.projection == 0 ? 3 : 1;
    parts.push_back(unit(g, x, Step{m.first, kernel, kernel, reduction}, name + "_conv"));
  }
  parts.push_back(tower(g, x, m.tower, name + "_tower"));
  if (!m.second_tower.empty()) parts.push_back(tower(g, x, m.second_tower, name + "_tower_1"));
  const TensorId pooled = pool(g, x, m.pool, reduction, name);
  parts.push_back(m.projection == 0 ? pooled : tower(g, pooled, {{m.projection, 1, 1}}, name + "_tower_2"));
  return g.concat(std::move(parts), fmt::format("ch_concat_{}_chconcat", name));
}

/// Inception7E: both towers end in a row and a column side by side.
TensorId split_module(GraphBuilder& g, TensorId x, PoolKind kind, const std::string& name) {
  std::vector<TensorId> parts{unit(g, x, Step{320, 1, 1}, name + "_conv")};
  const std::array<Tower, 2> towers = {Tower{{384, 1, 1}}, Tower{{448, 1, 1}, {384, 3, 3}}};
  for (std::size_t i = 0; i < towers.size(); ++i) {
    const std::string p = i == 0 ? name + "_tower" : name + "_tower_1";
    const TensorId y = tower(g, x, towers[i], p);
    parts.push_back(unit(g, y, Step{384, 1, 3}, p + "_mixed_conv"));
    parts.push_back(unit(g, y, Step{384, 3, 1}, p + "_mixed_conv_1"));
  }
  parts.push_back(tower(g, pool(g, x, kind, 1, name), {{192, 1, 1}}, name + "_tower_2"));
  return g.concat(std::move(parts), fmt::format("ch_concat_{}_chconcat", name));
}

Module module_a(std::int64_t projection) {
  return {64, {{48, 1, 1}, {64, 5, 5}}, {{64, 1, 1}, {96, 3, 3}, {96, 3, 3}}, PoolKind::average, projection};
}

Module module_c(std::int64_t c) {
  return {192,
          {{c, 1, 1}, {c, 1, 7}, {192, 7, 1}},
          {{c, 1, 1}, {c, 7, 1}, {c, 1, 7}, {c, 7, 1}, {192, 1, 7}},
          PoolKind::average,
          192};
}

/// Szegedy et al., arXiv:1512.00567, without auxiliary head.
Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  TensorId x = g.add(OpKind::identity, {g.input()}, {}, "id");
  x = unit(g, x, valid_convolution(32, 3, 2), "conv");
  x = unit(g, x, valid_convolution(32, 3), "conv_1");
  x = unit(g, x, same_convolution(64, 3), "conv_2");
  x = g.pool(x, square_pool(PoolKind::max, 3, 2), "pool");
  x = unit(g, x, same_convolution(80, 1), "conv_3");
  x = unit(g, x, valid_convolution(192, 3), "conv_4");
  x = g.pool(x, square_pool(PoolKind::max, 3, 2), "pool1");
  x = plain_module(g, x, module_a(32), "mixed");
  x = plain_module(g, x, module_a(64), "mixed_1");
  x = plain_module(g, x, module_a(64), "mixed_2");
  x = plain_module(g, x, {384, {{64, 1, 1}, {96, 3, 3}, {96, 3, 3, 2}}, {}, PoolKind::max, 0}, "mixed_3");
  x = plain_module(g, x, module_c(128), "mixed_4");
  x = plain_module(g, x, module_c(160), "mixed_5");
  x = plain_module(g, x, module_c(160), "mixed_6");
  x = plain_module(g, x, module_c(192), "mixed_7");
  const Module d{0, {{192, 1, 1}, {320, 3, 3, 2}}, {{192, 1, 1}, {192, 1, 7}, {192, 7, 1}, {192, 3, 3, 2}}, PoolKind::max, 0};
  x = plain_module(g, x, d, "mixed_8");
  x = split_module(g, x, PoolKind::average, "mixed_9");
  x = split_module(g, x, PoolKind::max, "mixed_10");
  x = g.flatten(g.pool(x, square_pool(PoolKind::average, 8, 1), "global_pool"), "flatten");
  g.softmax_loss(g.linear(x, options.classes.value_or(1000), "fc1"), "softmax");
  return std::move(g).finish();
}

}  // namespace

void append_inception_v3_mxnet(std::vector<ZooEntry>& entries) {
  entries.push_back(
      image_classifier("inception_v3", "mxnet", "apache/mxnet example/image-classification/symbols/inception-v3.py", build, 299));
}

}  // namespace tbdsim
