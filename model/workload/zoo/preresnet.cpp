#include <fmt/format.h>

#include <array>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr std::array kBlocks = {3, 24, 36, 3};

TensorId norm_relu(GraphBuilder& g, TensorId x, const std::string& name) {
  return g.relu(g.batch_norm(x, name), name + "_relu", true);
}

/// The first block of a stage projects its pre-activated input; the very first has no pre-activation, since the stem
/// ends in ReLU. All others add their input as it came.
TensorId block(GraphBuilder& g, TensorId x, std::int64_t planes, std::int64_t stride, bool projects, bool activates,
               const std::string& p) {
  const TensorId active = activates ? norm_relu(g, x, p + "bn1") : x;
  TensorId y = g.convolution(active, same_convolution(planes, 1), p + "conv1");
  y = g.convolution(norm_relu(g, y, p + "bn2"), same_convolution(planes, 3, stride), p + "conv2");
  y = g.convolution(norm_relu(g, y, p + "bn3"), same_convolution(4 * planes, 1), p + "conv3");
  const TensorId shortcut = projects ? g.convolution(active, same_convolution(4 * planes, 1, stride), p + "shortcut") : x;
  return g.add(OpKind::add, {y, shortcut}, {}, p + "add", true);
}

/// He et al., arXiv:1603.05027: ResNet-200.
Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  TensorId x = norm_relu(g, g.convolution(g.input(), same_convolution(64, 7, 2), "conv1"), "bn1");
  x = g.pool(x, square_pool(PoolKind::max, 3, 2, 1), "maxpool");
  for (std::size_t stage = 0; stage < kBlocks.size(); ++stage)
    for (int i = 0; i < kBlocks[stage]; ++i) {
      const bool first = i == 0;
      x = block(g, x, std::int64_t{64} << stage, stage > 0 && first ? 2 : 1, first, stage > 0 || !first,
                fmt::format("layer{}.{}.", stage + 1, i));
    }
  x = norm_relu(g, x, "bn_last");
  x = g.flatten(g.global_average_pool(x, "avgpool"), "flatten");
  g.softmax_loss(g.linear(x, options.classes.value_or(1000), "fc"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_preresnet(std::vector<ZooEntry>& entries) {
  entries.push_back(image_classifier("resnet200", "torch7", "facebook/fb.resnet.torch, models/preresnet.lua", build));
}

}  // namespace tbdsim
