#include <fmt/format.h>

#include <array>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

/// Sandler et al., arXiv:1801.04381, table 2.
struct Stage {
  std::int64_t expansion, channels;
  int repeats;
  std::int64_t stride;
};

constexpr std::array kStages = {
    Stage{1, 16, 1, 1}, Stage{6, 24, 2, 2},  Stage{6, 32, 3, 2},  Stage{6, 64, 4, 2},
    Stage{6, 96, 3, 1}, Stage{6, 160, 3, 2}, Stage{6, 320, 1, 1},
};

TensorId norm_relu6(GraphBuilder& g, TensorId x, ConvolutionAttributes a, const std::string& name) {
  x = g.batch_norm(g.convolution(x, a, name + ".0"), name + ".1");
  return g.activation(x, ActivationKind::relu6, name + ".2", true);
}

TensorId inverted_residual(GraphBuilder& g, TensorId x, const Stage& s, std::int64_t stride, const std::string& name) {
  const std::int64_t in = g.shape(x)[0];
  const std::int64_t hidden = s.expansion * in;
  int index = 0;
  const auto part = [&] { return fmt::format("{}.conv.{}", name, index++); };
  TensorId y = x;
  if (s.expansion != 1) y = norm_relu6(g, y, same_convolution(hidden, 1), part());
  y = norm_relu6(g, y, same_convolution(hidden, 3, stride, hidden), part());
  y = g.convolution(y, same_convolution(s.channels, 1), part());
  y = g.batch_norm(y, part());
  return stride == 1 && in == s.channels ? g.plus(x, y, name + ".add") : y;
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  TensorId x = norm_relu6(g, g.input(), same_convolution(32, 3, 2), "features.0");
  int index = 1;
  for (const Stage& s : kStages)
    for (int i = 0; i < s.repeats; ++i)
      x = inverted_residual(g, x, s, i == 0 ? s.stride : 1, fmt::format("features.{}", index++));
  x = norm_relu6(g, x, same_convolution(1280, 1), fmt::format("features.{}", index));
  x = g.flatten(g.global_average_pool(x, "avgpool"), "flatten");
  x = g.linear(g.dropout(x, 0.2, "classifier.0"), options.classes.value_or(1000), "classifier.1");
  g.softmax_loss(x, "loss");
  return std::move(g).finish();
}

}  // namespace

void append_mobilenet_v2(std::vector<ZooEntry>& entries) {
  entries.push_back(
      image_classifier("mobilenet_v2", "torchvision", "torchvision 0.14, torchvision/models/mobilenetv2.py", build));
}

}  // namespace tbdsim
