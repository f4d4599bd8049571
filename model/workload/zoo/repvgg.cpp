#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource =
    "huggingface/pytorch-image-models v0.6.12, timm/models/byobnet.py (Ding et al., arXiv:2101.03697)";

struct RepVggDefinition {
  std::string_view name;
  std::array<int, 4> depths;
  std::array<std::int64_t, 4> widths;
};
constexpr std::array kDefinitions = {RepVggDefinition{"repvgg_a2", {2, 4, 14, 1}, {96, 192, 384, 1408}},
                                     RepVggDefinition{"repvgg_b0", {4, 6, 16, 1}, {64, 128, 256, 1280}},
                                     RepVggDefinition{"repvgg_b1", {4, 6, 16, 1}, {128, 256, 512, 2048}}};

/// While it trains, a layer is the sum of two convolutions and, where it keeps its shape, of its input, each normed.
TensorId layer(GraphBuilder& g, TensorId x, std::int64_t channels, std::int64_t stride, const std::string& p) {
  const auto normed = [&](std::int64_t kernel, const std::string& name) {
    return g.batch_norm(g.convolution(x, same_convolution(channels, kernel, stride), name), name + ".bn");
  };
  const TensorId small = normed(1, p + "conv_1x1"), large = normed(3, p + "conv_kxk");
  TensorId y = g.plus(small, large, p + "add");
  if (stride == 1 && g.shape(x).front() == channels) y = g.plus(y, g.batch_norm(x, p + "identity"), p + "add_identity");
  return g.relu(y, p + "act", true);
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  TensorId x = layer(g, g.input(), std::min<std::int64_t>(64, d->widths[0]), 2, "stem.");
  for (std::size_t stage = 0; stage < d->widths.size(); ++stage)
    for (int i = 0; i < d->depths[stage]; ++i)
      x = layer(g, x, d->widths[stage], i == 0 ? 2 : 1, fmt::format("stages.{}.{}.", stage, i));
  x = g.flatten(g.global_average_pool(x, "head.pool"), "head.flatten");
  g.softmax_loss(g.linear(x, options.classes.value_or(1000), "head.fc"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_repvgg(std::vector<ZooEntry>& entries) {
  for (const RepVggDefinition& d : kDefinitions) entries.push_back(image_classifier(std::string(d.name), "timm", kSource, build));
}

}  // namespace tbdsim
