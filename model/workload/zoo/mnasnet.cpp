#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

struct MnasNetDefinition {
  std::string_view name;
  double width;  ///< multiplies every channel count but the last
};
constexpr std::array kDefinitions = {MnasNetDefinition{"mnasnet0_5", 0.5}, MnasNetDefinition{"mnasnet0_75", 0.75},
                                     MnasNetDefinition{"mnasnet1_0", 1.0}, MnasNetDefinition{"mnasnet1_3", 1.3}};

/// Tan et al., arXiv:1807.11626, model B1.
struct Stack {
  double channels;
  std::int64_t kernel, stride, expansion;
  int repeats;
};
constexpr std::array kStacks = {Stack{24, 3, 2, 3, 3}, Stack{40, 5, 2, 3, 3},  Stack{80, 5, 2, 6, 3},
                                Stack{96, 3, 1, 6, 2}, Stack{192, 5, 2, 6, 4}, Stack{320, 3, 1, 6, 1}};

/// Convolution, batch norm and ReLU numbered as in a torch Sequential.
TensorId unit(GraphBuilder& g, TensorId x, ConvolutionAttributes a, bool relu, const std::string& name, int& index) {
  x = g.convolution(x, a, fmt::format("{}.{}", name, index));
  x = g.batch_norm(x, fmt::format("{}.{}", name, index + 1));
  if (relu) x = g.relu(x, fmt::format("{}.{}", name, index + 2), true);
  index += relu ? 3 : 2;
  return x;
}

TensorId inverted_residual(GraphBuilder& g, TensorId x, const Stack& s, std::int64_t channels, std::int64_t stride,
                           const std::string& name) {
  const std::int64_t in = g.shape(x)[0];
  const std::int64_t hidden = in * s.expansion;
  int index = 0;
  TensorId y = unit(g, x, same_convolution(hidden, 1), true, name + ".layers", index);
  y = unit(g, y, same_convolution(hidden, s.kernel, stride, hidden), true, name + ".layers", index);
  y = unit(g, y, same_convolution(channels, 1), false, name + ".layers", index);
  return stride == 1 && in == channels ? g.plus(y, x, name + ".add") : y;
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  const std::int64_t first = round_to_eight(32 * d->width);
  int index = 0;
  TensorId x = unit(g, g.input(), same_convolution(first, 3, 2), true, "layers", index);
  x = unit(g, x, same_convolution(first, 3, 1, first), true, "layers", index);
  x = unit(g, x, same_convolution(round_to_eight(16 * d->width), 1), false, "layers", index);
  for (const Stack& s : kStacks) {
    const std::int64_t channels = round_to_eight(s.channels * d->width);
    for (int i = 0; i < s.repeats; ++i)
      x = inverted_residual(g, x, s, channels, i == 0 ? s.stride : 1, fmt::format("layers.{}.{}", index, i));
    ++index;
  }
  x = unit(g, x, same_convolution(1280, 1), true, "layers", index);
  x = g.flatten(g.global_average_pool(x, "mean"), "flatten");
  x = g.linear(g.dropout(x, 0.2, "classifier.0"), options.classes.value_or(1000), "classifier.1");
  g.softmax_loss(x, "loss");
  return std::move(g).finish();
}

}  // namespace

void append_mnasnet(std::vector<ZooEntry>& entries) {
  for (const MnasNetDefinition& d : kDefinitions)
    entries.push_back(
        image_classifier(std::string(d.name), "torchvision", "torchvision 0.14, torchvision/models/mnasnet.py", build));
}

}  // namespace tbdsim
