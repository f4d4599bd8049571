#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource = "huggingface/pytorch-image-models v0.6.12, timm/models/dpn.py (Chen et al., arXiv:1707.01629)";

struct DpnDefinition {
  std::string_view name;
  std::int64_t stem, width, groups;
  std::array<int, 4> depths;
  std::array<std::int64_t, 4> growth;  ///< channels that each block adds to the dense path
};
constexpr std::array kDefinitions = {
    DpnDefinition{"dpn92", 64, 96, 32, {3, 4, 20, 3}, {16, 32, 24, 128}},
    DpnDefinition{"dpn98", 96, 160, 40, {3, 6, 20, 3}, {16, 32, 32, 128}},
    DpnDefinition{"dpn107", 128, 200, 50, {4, 8, 20, 3}, {20, 64, 64, 128}},
};

/// The maps of the residual and of the dense path.
struct Paths {
  TensorId residual, dense;
};

/// Norm and ReLU come before each convolution.
TensorId unit(GraphBuilder& g, TensorId x, ConvolutionAttributes a, const std::string& name) {
  return g.convolution(g.relu(g.batch_norm(x, name + ".bn"), name + ".act", true), a, name);
}

struct Block {
  std::int64_t width, out, growth, stride;
  bool projects;
};

Paths block(GraphBuilder& g, const Paths& in, const DpnDefinition& d, const Block& b, const std::string& p) {
  const bool joined = in.residual == in.dense;  // the stem's result is one array
  const TensorId x = joined ? in.residual : g.concat({in.residual, in.dense}, p + "cat_in");
  const auto part = [&](TensorId y, std::int64_t begin, std::int64_t end, const char* name) {
    return g.add(OpKind::slice, {y}, SliceAttributes{0, begin, end}, p + name);
  };
  Paths shortcut = in;
  if (b.projects) {
    const TensorId s = unit(g, x, same_convolution(b.out + 2 * b.growth, 1, b.stride), p + "c1x1_w");
    shortcut = {part(s, 0, b.out, "shortcut_residual"), part(s, b.out, b.out + 2 * b.growth, "shortcut_dense")};
  }
  TensorId y = unit(g, x, same_convolution(b.width, 1), p + "c1x1_a");
  y = unit(g, y, same_convolution(b.width, 3, b.stride, d.groups), p + "c3x3_b");
  y = unit(g, y, same_convolution(b.out + b.growth, 1), p + "c1x1_c");
  const TensorId sum = g.plus(shortcut.residual, part(y, 0, b.out, "made_residual"), p + "add");
  return {sum, g.concat({shortcut.dense, part(y, b.out, b.out + b.growth, "made_dense")}, p + "cat")};
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  TensorId x = g.relu(g.batch_norm(g.convolution(g.input(), same_convolution(d->stem, 7, 2), "conv1_1"), "conv1_1.bn"),
                      "conv1_1.act", true);
  x = g.pool(x, square_pool(PoolKind::max, 3, 2, 1), "conv1_pool");
  Paths paths{x, x};
  for (std::size_t stage = 0; stage < d->depths.size(); ++stage)
    for (int i = 0; i < d->depths[stage]; ++i) {
      const bool first = i == 0;
      const Block b{d->width << stage, std::int64_t{256} << stage, d->growth[stage], first && stage > 0 ? 2 : 1, first};
      paths = block(g, paths, *d, b, fmt::format("conv{}_{}.", stage + 2, i + 1));
    }
  x = g.relu(g.batch_norm(g.concat({paths.residual, paths.dense}, "conv5_cat"), "conv5_bn"), "conv5_act", true);
  x = g.convolution(g.global_average_pool(x, "global_pool"), same_convolution(options.classes.value_or(1000), 1, 1, 1, true),
                    "classifier");
  g.softmax_loss(g.flatten(x, "flatten"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_dpn(std::vector<ZooEntry>& entries) {
  for (const DpnDefinition& d : kDefinitions) entries.push_back(image_classifier(std::string(d.name), "timm", kSource, build));
}

}  // namespace tbdsim
