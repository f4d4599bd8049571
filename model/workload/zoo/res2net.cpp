#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>
#include <vector>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource = "huggingface/pytorch-image-models v0.6.12, timm/models/res2net.py (Gao et al., arXiv:1904.01169)";

struct Res2NetDefinition {
  std::string_view name;
  std::array<int, 4> blocks;
  std::int64_t base_width, scale, cardinality;
};
constexpr std::array kDefinitions = {
    Res2NetDefinition{"res2net50_26w_4s", {3, 4, 6, 3}, 26, 4, 1}, Res2NetDefinition{"res2net50_14w_8s", {3, 4, 6, 3}, 14, 8, 1},
    Res2NetDefinition{"res2net101_26w_4s", {3, 4, 23, 3}, 26, 4, 1}, Res2NetDefinition{"res2next50", {3, 4, 6, 3}, 4, 4, 8}};

TensorId unit(GraphBuilder& g, TensorId x, ConvolutionAttributes a, bool relu, const std::string& name) {
  x = g.batch_norm(g.convolution(x, a, name), name + "_bn");
  return relu ? g.relu(x, name + "_relu", true) : x;
}

/// The middle convolution falls into parts, each of which also sees the result of the one before.
TensorId block(GraphBuilder& g, TensorId x, const Res2NetDefinition& d, std::int64_t planes, std::int64_t stride, bool first,
               const std::string& p) {
  const std::int64_t width = planes * d.base_width / 64 * d.cardinality, out = 4 * planes;
  const TensorId all = unit(g, x, same_convolution(width * d.scale, 1), true, p + "conv1");
  std::vector<TensorId> parts;
  for (std::int64_t i = 0; i < d.scale; ++i) {
    const std::string q = fmt::format("{}part{}", p, i);
    TensorId y = g.add(OpKind::slice, {all}, SliceAttributes{0, i * width, (i + 1) * width}, q);
    if (i + 1 == d.scale) {
      parts.push_back(first ? g.pool(y, square_pool(PoolKind::average, 3, stride, 1), q + "_pool") : y);
      break;
    }
    if (i > 0 && !first) y = g.plus(parts.back(), y, q + "_add");
    parts.push_back(unit(g, y, same_convolution(width, 3, stride, d.cardinality), true, q + "_conv"));
  }
  const TensorId y = unit(g, g.concat(parts, p + "cat"), same_convolution(out, 1), false, p + "conv3");
  const TensorId shortcut = first ? unit(g, x, same_convolution(out, 1, stride), false, p + "downsample") : x;
  return g.relu(g.add(OpKind::add, {y, shortcut}, {}, p + "add", true), p + "relu", true);
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  TensorId x = unit(g, g.input(), same_convolution(64, 7, 2), true, "conv1");
  x = g.pool(x, square_pool(PoolKind::max, 3, 2, 1), "maxpool");
  for (int stage = 0; stage < 4; ++stage)
    for (int i = 0; i < d->blocks[static_cast<std::size_t>(stage)]; ++i)
      x = block(g, x, *d, std::int64_t{64} << stage, i == 0 && stage > 0 ? 2 : 1, i == 0,
                fmt::format("layer{}.{}.", stage + 1, i));
  x = g.flatten(g.global_average_pool(x, "avgpool"), "flatten");
  g.softmax_loss(g.linear(x, options.classes.value_or(1000), "fc"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_res2net(std::vector<ZooEntry>& entries) {
  for (const Res2NetDefinition& d : kDefinitions)
    entries.push_back(image_classifier(std::string(d.name), "timm", kSource, build));
}

}  // namespace tbdsim
