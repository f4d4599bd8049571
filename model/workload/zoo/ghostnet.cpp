#include <fmt/format.h>

#include <array>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource =
    "huggingface/pytorch-image-models v0.6.12, timm/models/ghostnet.py (Han et al., arXiv:1911.11907)";

struct Row {
  std::int64_t kernel, middle, out;
  bool squeezes;
  std::int64_t stride;
};
constexpr std::array kRows = {
    Row{3, 16, 16, false, 1},   Row{3, 48, 24, false, 2},  Row{3, 72, 24, false, 1},   Row{5, 72, 40, true, 2},
    Row{5, 120, 40, true, 1},   Row{3, 240, 80, false, 2}, Row{3, 200, 80, false, 1},  Row{3, 184, 80, false, 1},
    Row{3, 184, 80, false, 1},  Row{3, 480, 112, true, 1}, Row{3, 672, 112, true, 1},  Row{5, 672, 160, true, 2},
    Row{5, 960, 160, false, 1}, Row{5, 960, 160, true, 1}, Row{5, 960, 160, false, 1}, Row{5, 960, 160, true, 1}};

TensorId unit(GraphBuilder& g, TensorId x, ConvolutionAttributes a, bool relu, const std::string& name) {
  x = g.batch_norm(g.convolution(x, a, name), name + ".bn");
  return relu ? g.relu(x, name + ".relu", true) : x;
}

/// Half of the channels by a product, the other half from those by a cheap depthwise convolution.
TensorId ghost(GraphBuilder& g, TensorId x, std::int64_t out, bool relu, const std::string& p) {
  const std::int64_t half = (out + 1) / 2;
  const TensorId made = unit(g, x, same_convolution(half, 1), relu, p + "primary_conv");
  return g.concat({made, unit(g, made, same_convolution(half, 3, 1, half), relu, p + "cheap_operation")}, p + "cat");
}

TensorId squeeze_excite(GraphBuilder& g, TensorId x, const std::string& p) {
  const std::int64_t channels = g.shape(x).front(), squeezed = (channels / 4 + 2) / 4 * 4;
  TensorId s = g.global_average_pool(x, p + "mean");
  s = g.relu(g.convolution(s, same_convolution(squeezed, 1, 1, 1, true), p + "reduce"), p + "relu", true);
  s = g.activation(g.convolution(s, same_convolution(channels, 1, 1, 1, true), p + "expand"), ActivationKind::hardsigmoid,
                   p + "gate");
  return g.add(OpKind::multiply, {x, s}, {}, p + "scale");
}

TensorId bottleneck(GraphBuilder& g, TensorId x, const Row& r, const std::string& p) {
  const std::int64_t in = g.shape(x).front();
  TensorId y = ghost(g, x, r.middle, true, p + "ghost1.");
  if (r.stride > 1) y = unit(g, y, same_convolution(r.middle, r.kernel, r.stride, r.middle), false, p + "conv_dw");
  if (r.squeezes) y = squeeze_excite(g, y, p + "se.");
  y = ghost(g, y, r.out, false, p + "ghost2.");
  TensorId shortcut = x;
  if (in != r.out || r.stride != 1) {
    shortcut = unit(g, x, same_convolution(in, r.kernel, r.stride, in), false, p + "shortcut.dw");
    shortcut = unit(g, shortcut, same_convolution(r.out, 1), false, p + "shortcut.pw");
  }
  return g.add(OpKind::add, {y, shortcut}, {}, p + "add", true);
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  TensorId x = unit(g, g.input(), same_convolution(16, 3, 2), true, "conv_stem");
  int index = 0;
  for (const Row& r : kRows) x = bottleneck(g, x, r, fmt::format("blocks.{}.", index++));
  x = g.global_average_pool(unit(g, x, same_convolution(960, 1), true, "blocks.last"), "global_pool");
  x = g.relu(g.convolution(x, same_convolution(1280, 1, 1, 1, true), "conv_head"), "act2", true);
  x = g.dropout(g.flatten(x, "flatten"), 0.2, "dropout");
  g.softmax_loss(g.linear(x, options.classes.value_or(1000), "classifier"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_ghostnet(std::vector<ZooEntry>& entries) {
  entries.push_back(image_classifier("ghostnet_100", "timm", kSource, build));
}

}  // namespace tbdsim
