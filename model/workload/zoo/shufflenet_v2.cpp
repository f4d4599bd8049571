#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

/// Ma et al., arXiv:1807.11164, table 5.
struct ShuffleNetDefinition {
  std::string_view name;
  std::array<std::int64_t, 3> channels;
  std::int64_t last_channels;
};

constexpr std::array kDefinitions = {
    ShuffleNetDefinition{"shufflenet_v2_x0_5", {48, 96, 192}, 1024},
    ShuffleNetDefinition{"shufflenet_v2_x1_0", {116, 232, 464}, 1024},
    ShuffleNetDefinition{"shufflenet_v2_x1_5", {176, 352, 704}, 1024},
    ShuffleNetDefinition{"shufflenet_v2_x2_0", {244, 488, 976}, 2048},
};
constexpr std::array kRepeats = {4, 8, 4};

/// Layers of a torch Sequential, numbered from 0.
class Sequence {
 public:
  Sequence(GraphBuilder& graph, TensorId x, std::string name) : graph_(graph), x_(x), name_(std::move(name)) {}
  Sequence& convolution(ConvolutionAttributes a) { return set(graph_.batch_norm(graph_.convolution(x_, a, next()), next())); }
  Sequence& relu() { return set(graph_.relu(x_, next(), true)); }
  [[nodiscard]] TensorId output() const { return x_; }

 private:
  std::string next() { return fmt::format("{}.{}", name_, index_++); }
  Sequence& set(TensorId x) {
    x_ = x;
    return *this;
  }
  GraphBuilder& graph_;
  TensorId x_;
  std::string name_;
  int index_ = 0;
};

TensorId unit(GraphBuilder& g, TensorId x, std::int64_t channels, std::int64_t stride, const std::string& name) {
  const std::int64_t in = g.shape(x)[0];
  const std::int64_t half = channels / 2;
  TensorId left = x;
  TensorId right = x;
  if (stride == 1) {
    left = g.add(OpKind::slice, {x}, SliceAttributes{0, 0, in / 2}, name + ".chunk1");
    right = g.add(OpKind::slice, {x}, SliceAttributes{0, in / 2, in}, name + ".chunk2");
  } else {
    Sequence branch(g, x, name + ".branch1");
    left = branch.convolution(same_convolution(in, 3, stride, in)).convolution(same_convolution(half, 1)).relu().output();
  }
  Sequence branch(g, right, name + ".branch2");
  branch.convolution(same_convolution(half, 1)).relu();
  branch.convolution(same_convolution(half, 3, stride, half)).convolution(same_convolution(half, 1)).relu();
  const TensorId joined = g.concat({left, branch.output()}, name + ".concat");
  return g.add(OpKind::channel_shuffle, {joined}, ShuffleAttributes{2}, name + ".shuffle");
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  TensorId x = Sequence(g, g.input(), "conv1").convolution(same_convolution(24, 3, 2)).relu().output();
  x = g.pool(x, square_pool(PoolKind::max, 3, 2, 1), "maxpool");
  for (std::size_t stage = 0; stage < kRepeats.size(); ++stage)
    for (int i = 0; i < kRepeats[stage]; ++i)
      x = unit(g, x, d->channels[stage], i == 0 ? 2 : 1, fmt::format("stage{}.{}", stage + 2, i));
  x = Sequence(g, x, "conv5").convolution(same_convolution(d->last_channels, 1)).relu().output();
  x = g.flatten(g.global_average_pool(x, "mean"), "flatten");
  g.softmax_loss(g.linear(x, options.classes.value_or(1000), "fc"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_shufflenet_v2(std::vector<ZooEntry>& entries) {
  for (const ShuffleNetDefinition& d : kDefinitions)
    entries.push_back(
        image_classifier(std::string(d.name), "torchvision", "torchvision 0.14, torchvision/models/shufflenetv2.py", build));
}

}  // namespace tbdsim
