#include <fmt/format.h>

#include <array>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource = "huggingface/pytorch-image-models v0.6.12, timm/models/cspnet.py (Wang et al., arXiv:1911.11929)";

struct Stage {
  std::int64_t channels;
  int depth;
  bool narrow;  ///< all but the first: halves after the split, whole blocks
};
constexpr std::array kStages = {Stage{64, 1, false}, Stage{128, 2, true}, Stage{256, 8, true}, Stage{512, 8, true},
                                Stage{1024, 4, true}};

/// Leaky ReLU in place costs what ReLU in place does.
TensorId unit(GraphBuilder& g, TensorId x, ConvolutionAttributes a, const std::string& name) {
  return g.relu(g.batch_norm(g.convolution(x, a, name), name + ".bn"), name + ".act", true);
}

/// A strided convolution, then half of the maps go round the residual blocks.
TensorId stage(GraphBuilder& g, TensorId x, const Stage& s, const std::string& p) {
  x = unit(g, x, same_convolution(s.channels, 3, 2), p + "conv_down");
  const std::int64_t expanded = s.narrow ? s.channels : 2 * s.channels, half = expanded / 2;
  x = unit(g, x, same_convolution(expanded, 1), p + "conv_exp");
  const TensorId round = g.add(OpKind::slice, {x}, SliceAttributes{0, 0, half}, p + "split0");
  TensorId y = g.add(OpKind::slice, {x}, SliceAttributes{0, half, expanded}, p + "split1");
  for (int i = 0; i < s.depth; ++i) {
    const std::string q = fmt::format("{}blocks.{}.", p, i);
    TensorId z = unit(g, y, same_convolution(s.narrow ? half : half / 2, 1), q + "conv1");
    z = unit(g, z, same_convolution(half, 3), q + "conv2");
    y = g.plus(z, y, q + "add");
  }
  y = unit(g, y, same_convolution(half, 1), p + "conv_transition_b");
  return unit(g, g.concat({round, y}, p + "cat"), same_convolution(s.channels, 1), p + "conv_transition");
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  TensorId x = unit(g, g.input(), same_convolution(32, 3), "stem.conv1");
  int index = 0;
  for (const Stage& s : kStages) x = stage(g, x, s, fmt::format("stages.{}.", index++));
  x = g.flatten(g.global_average_pool(x, "head.pool"), "head.flatten");
  g.softmax_loss(g.linear(x, options.classes.value_or(1000), "head.fc"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_cspdarknet(std::vector<ZooEntry>& entries) {
  entries.push_back(image_classifier("cspdarknet53", "timm", kSource, build, 256));
}

}  // namespace tbdsim
