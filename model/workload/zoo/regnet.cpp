#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kTorchvision = "torchvision 0.14, torchvision/models/regnet.py (Radosavovic et al., arXiv:2003.13678)";
constexpr const char* kTimm = "huggingface/pytorch-image-models v0.6.12, timm/models/regnet.py";

/// Widths and depths of the four stages, as they follow from the published parameters of each design.
struct RegNetDefinition {
  std::string_view name;
  std::array<std::int64_t, 4> widths;
  std::array<int, 4> depths;
  std::int64_t group_width;
  bool squeezes;  ///< RegNetY: squeeze-and-excitation by a quarter of a block's input
  bool torchvision = true;
};
constexpr std::array kDefinitions = {
    RegNetDefinition{"regnet_x_400mf", {32, 64, 160, 400}, {1, 2, 7, 12}, 16, false},
    RegNetDefinition{"regnet_x_800mf", {64, 128, 288, 672}, {1, 3, 7, 5}, 16, false},
    RegNetDefinition{"regnet_x_1_6gf", {72, 168, 408, 912}, {2, 4, 10, 2}, 24, false},
    RegNetDefinition{"regnet_x_3_2gf", {96, 192, 432, 1008}, {2, 6, 15, 2}, 48, false},
    RegNetDefinition{"regnet_x_8gf", {80, 240, 720, 1920}, {2, 5, 15, 1}, 120, false},
    RegNetDefinition{"regnet_x_16gf", {256, 512, 896, 2048}, {2, 6, 13, 1}, 128, false},
    RegNetDefinition{"regnet_x_32gf", {336, 672, 1344, 2520}, {2, 7, 13, 1}, 168, false},
    RegNetDefinition{"regnet_y_400mf", {48, 104, 208, 440}, {1, 3, 6, 6}, 8, true},
    RegNetDefinition{"regnet_y_800mf", {64, 144, 320, 784}, {1, 3, 8, 2}, 16, true},
    RegNetDefinition{"regnet_y_1_6gf", {48, 120, 336, 888}, {2, 6, 17, 2}, 24, true},
    RegNetDefinition{"regnet_y_3_2gf", {72, 216, 576, 1512}, {2, 5, 13, 1}, 24, true},
    RegNetDefinition{"regnet_y_8gf", {224, 448, 896, 2016}, {2, 4, 10, 1}, 56, true},
    RegNetDefinition{"regnet_y_16gf", {224, 448, 1232, 3024}, {2, 4, 11, 1}, 112, true},
    RegNetDefinition{"regnet_y_32gf", {232, 696, 1392, 3712}, {2, 5, 12, 1}, 232, true},
    RegNetDefinition{"regnety_002", {24, 56, 152, 368}, {1, 1, 4, 7}, 8, true, false},
    RegNetDefinition{"regnety_120", {224, 448, 896, 2240}, {2, 5, 11, 1}, 112, true, false},
};

TensorId unit(GraphBuilder& g, TensorId x, ConvolutionAttributes a, bool relu, const std::string& name) {
  x = g.batch_norm(g.convolution(x, a, name + ".0"), name + ".1");
  return relu ? g.relu(x, name + ".2", true) : x;
}

TensorId squeeze_excite(GraphBuilder& g, TensorId x, std::int64_t squeezed, const std::string& name) {
  TensorId s = g.global_average_pool(x, name + ".avgpool");
  s = g.relu(g.convolution(s, same_convolution(squeezed, 1, 1, 1, true), name + ".fc1"), name + ".activation");
  s = g.convolution(s, same_convolution(g.shape(x).front(), 1, 1, 1, true), name + ".fc2");
  s = g.activation(s, ActivationKind::sigmoid, name + ".scale_activation");
  return g.add(OpKind::multiply, {x, s}, {}, name + ".scale");
}

TensorId block(GraphBuilder& g, TensorId x, const RegNetDefinition& d, std::int64_t width, std::int64_t stride,
               const std::string& name) {
  const std::int64_t in = g.shape(x).front();
  TensorId shortcut = x;
  if (stride != 1 || in != width) shortcut = unit(g, x, same_convolution(width, 1, stride), false, name + ".proj");
  TensorId y = unit(g, x, same_convolution(width, 1), true, name + ".f.a");
  const std::int64_t group = std::min(d.group_width, width);
  y = unit(g, y, same_convolution(width, 3, stride, width / group), true, name + ".f.b");
  if (d.squeezes) y = squeeze_excite(g, y, (in + 2) / 4, name + ".f.se");
  y = unit(g, y, same_convolution(width, 1), false, name + ".f.c");
  return g.relu(g.plus(shortcut, y, name + ".add"), name + ".activation", true);
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  TensorId x = unit(g, g.input(), same_convolution(32, 3, 2), true, "stem");
  for (std::size_t stage = 0; stage < d->widths.size(); ++stage)
    for (int i = 0; i < d->depths[stage]; ++i)
      x = block(g, x, *d, d->widths[stage], i == 0 ? 2 : 1,
                fmt::format("trunk_output.block{}.block{}-{}", stage + 1, stage + 1, i));
  x = g.flatten(g.global_average_pool(x, "avgpool"), "flatten");
  g.softmax_loss(g.linear(x, options.classes.value_or(1000), "fc"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_regnet(std::vector<ZooEntry>& entries) {
  for (const RegNetDefinition& d : kDefinitions)
    entries.push_back(image_classifier(std::string(d.name), d.torchvision ? "torchvision" : "timm",
                                       d.torchvision ? kTorchvision : kTimm, build));
}

}  // namespace tbdsim
