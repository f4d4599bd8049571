#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource = "huggingface/pytorch-image-models v0.6.12, timm/models/dla.py (Yu et al., arXiv:1707.06484)";

struct DlaDefinition {
  std::string_view name;
  std::array<int, 4> levels;  ///< of the trees of the last four stages
  bool residual_root;
};
constexpr std::array kDefinitions = {DlaDefinition{"dla60", {1, 2, 3, 1}, false}, DlaDefinition{"dla102", {1, 3, 4, 1}, true},
                                     DlaDefinition{"dla169", {2, 3, 5, 1}, true}};
constexpr std::array<std::int64_t, 6> kChannels{16, 32, 128, 256, 512, 1024};

TensorId unit(GraphBuilder& g, TensorId x, ConvolutionAttributes a, bool relu, const std::string& name) {
  x = g.batch_norm(g.convolution(x, a, name), name + "_bn");
  return relu ? g.relu(x, name + "_relu", true) : x;
}

TensorId bottleneck(GraphBuilder& g, TensorId x, TensorId shortcut, std::int64_t channels, std::int64_t stride,
                    const std::string& p) {
  TensorId y = unit(g, x, same_convolution(channels / 2, 1), true, p + "conv1");
  y = unit(g, y, same_convolution(channels / 2, 3, stride), true, p + "conv2");
  y = unit(g, y, same_convolution(channels, 1), false, p + "conv3");
  return g.relu(g.add(OpKind::add, {y, shortcut}, {}, p + "add", true), p + "relu", true);
}

/// Joins what its branches made.
TensorId root(GraphBuilder& g, const std::vector<TensorId>& children, std::int64_t channels, bool residual,
              const std::string& p) {
  TensorId x = unit(g, g.concat(children, p + "cat"), same_convolution(channels, 1), false, p + "conv");
  if (residual) x = g.add(OpKind::add, {x, children.front()}, {}, p + "add", true);
  return g.relu(x, p + "relu", true);
}

struct Tree {
  int levels;
  std::int64_t channels, stride;
  bool level_root, residual;
};

/// A tree of two subtrees, down to pairs of blocks; the last pair's root joins the results of all levels above.
TensorId tree(GraphBuilder& g, TensorId x, const Tree& t, std::vector<TensorId> children, const std::string& p) {
  const bool leaf = t.levels == 1, projects = leaf && g.shape(x).front() != t.channels;
  TensorId bottom = x;
  if (t.stride > 1 && (projects || t.level_root))
    bottom = g.pool(x, square_pool(PoolKind::max, t.stride, t.stride), p + "downsample");
  if (t.level_root) children.push_back(bottom);
  if (leaf) {
    const TensorId shortcut = projects ? unit(g, bottom, same_convolution(t.channels, 1), false, p + "project") : bottom;
    const TensorId first = bottleneck(g, x, shortcut, t.channels, t.stride, p + "tree1.");
    const TensorId second = bottleneck(g, first, first, t.channels, 1, p + "tree2.");
    children.insert(children.begin(), {second, first});
    return root(g, children, t.channels, t.residual, p + "root.");
  }
  const TensorId first = tree(g, x, {t.levels - 1, t.channels, t.stride, false, t.residual}, {}, p + "tree1.");
  children.push_back(first);
  return tree(g, first, {t.levels - 1, t.channels, 1, false, t.residual}, children, p + "tree2.");
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  TensorId x = unit(g, g.input(), same_convolution(kChannels[0], 7), true, "base_layer");
  x = unit(g, x, same_convolution(kChannels[0], 3), true, "level0");
  x = unit(g, x, same_convolution(kChannels[1], 3, 2), true, "level1");
  for (std::size_t i = 0; i < d->levels.size(); ++i)
    x = tree(g, x, {d->levels[i], kChannels[i + 2], 2, i > 0, d->residual_root}, {}, fmt::format("level{}.", i + 2));
  x = g.convolution(g.global_average_pool(x, "global_pool"), same_convolution(options.classes.value_or(1000), 1, 1, 1, true),
                    "fc");
  g.softmax_loss(g.flatten(x, "flatten"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_dla(std::vector<ZooEntry>& entries) {
  for (const DlaDefinition& d : kDefinitions) entries.push_back(image_classifier(std::string(d.name), "timm", kSource, build));
}

}  // namespace tbdsim
