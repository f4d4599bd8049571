#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <string_view>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

/// Where batch norm and ReLU stand, and how wide the inner convolutions are.
enum class Unit { pre_activation, original, aggregated };

struct MxnetDefinition {
  std::string_view name;
  Unit unit;
  bool bottleneck;
  int stages;
  std::array<int, 4> units;
  std::string_view source;
};

constexpr std::string_view kV2 = "apache/mxnet example/image-classification/symbols/resnet.py";
constexpr std::string_view kV1 = "apache/mxnet example/image-classification/symbols/resnet-v1.py";
constexpr std::string_view kResNeXt = "apache/mxnet example/image-classification/symbols/resnext.py";

constexpr std::array kDefinitions = {
    MxnetDefinition{"resnet18", Unit::pre_activation, false, 4, {2, 2, 2, 2}, kV2},
    MxnetDefinition{"resnet34", Unit::pre_activation, false, 4, {3, 4, 6, 3}, kV2},
    MxnetDefinition{"resnet50", Unit::pre_activation, true, 4, {3, 4, 6, 3}, kV2},
    MxnetDefinition{"resnet101", Unit::pre_activation, true, 4, {3, 4, 23, 3}, kV2},
    MxnetDefinition{"resnet152", Unit::pre_activation, true, 4, {3, 8, 36, 3}, kV2},
    MxnetDefinition{"resnet200", Unit::pre_activation, true, 4, {3, 24, 36, 3}, kV2},
    MxnetDefinition{"resnet110", Unit::pre_activation, false, 3, {18, 18, 18, 0}, kV2},
    MxnetDefinition{"resnet_v1_50", Unit::original, true, 4, {3, 4, 6, 3}, kV1},
    MxnetDefinition{"resnext50_32x4d", Unit::aggregated, true, 4, {3, 4, 6, 3}, kResNeXt},
};

// MXNet's scripts take images of at most this side for CIFAR: 3x3 first convolution, no pool, three stages.
constexpr int kSmallImage = 28;

struct UnitShape {
  std::string name;  ///< "stage1_unit1"
  std::int64_t channels, stride;
  bool projects;
};

TensorId norm_relu(GraphBuilder& g, TensorId x, const std::string& unit, int index) {
  return g.relu(g.batch_norm(x, fmt::format("{}_bn{}", unit, index)), fmt::format("{}_relu{}", unit, index));
}

TensorId pre_activation_unit(GraphBuilder& g, TensorId x, bool bottleneck, const UnitShape& u) {
  const TensorId first = norm_relu(g, x, u.name, 1);
  TensorId y = first;
  if (bottleneck) {
    y = g.convolution(y, same_convolution(u.channels / 4, 1, 1), u.name + "_conv1");
    y = g.convolution(norm_relu(g, y, u.name, 2), same_convolution(u.channels / 4, 3, u.stride), u.name + "_conv2");
    y = g.convolution(norm_relu(g, y, u.name, 3), same_convolution(u.channels, 1, 1), u.name + "_conv3");
  } else {
    y = g.convolution(y, same_convolution(u.channels, 3, u.stride), u.name + "_conv1");
    y = g.convolution(norm_relu(g, y, u.name, 2), same_convolution(u.channels, 3, 1), u.name + "_conv2");
  }
  const TensorId shortcut = u.projects ? g.convolution(first, same_convolution(u.channels, 1, u.stride), u.name + "_sc") : x;
  return g.plus(y, shortcut, u.name + "_add");
}

/// ResNet v1 (stride in the first 1x1 convolution) and ResNeXt (stride in the grouped 3x3, twice the width).
TensorId post_activation_unit(GraphBuilder& g, TensorId x, Unit unit, const UnitShape& u) {
  const bool aggregated = unit == Unit::aggregated;
  const std::int64_t width = aggregated ? u.channels / 2 : u.channels / 4;
  const std::int64_t groups = aggregated ? 32 : 1;
  TensorId y = g.convolution(x, same_convolution(width, 1, aggregated ? 1 : u.stride), u.name + "_conv1");
  y = norm_relu(g, y, u.name, 1);
  y = g.convolution(y, same_convolution(width, 3, aggregated ? u.stride : 1, groups), u.name + "_conv2");
  y = norm_relu(g, y, u.name, 2);
  y = g.batch_norm(g.convolution(y, same_convolution(u.channels, 1, 1), u.name + "_conv3"), u.name + "_bn3");
  TensorId shortcut = x;
  if (u.projects) {
    shortcut = g.convolution(x, same_convolution(u.channels, 1, u.stride), u.name + (aggregated ? "_sc" : "_conv1sc"));
    shortcut = g.batch_norm(shortcut, u.name + (aggregated ? "_sc_bn" : "_sc"));
  }
  return g.relu(g.plus(y, shortcut, u.name + "_add"), u.name + (aggregated ? "_relu" : "_relu3"));
}

TensorId stem(GraphBuilder& g, Unit unit, bool small) {
  TensorId x = g.add(OpKind::identity, {g.input()}, {}, "id");
  if (unit != Unit::original) x = g.batch_norm(x, "bn_data", {false});
  if (small) return g.convolution(x, same_convolution(16, 3, 1), "conv0");
  x = g.convolution(x, same_convolution(64, 7, 2), "conv0");
  x = g.relu(g.batch_norm(x, "bn0"), "relu0");
  return g.pool(x, square_pool(PoolKind::max, 3, 2, 1), "pool0");
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  const bool small = d->stages == 3;
  if (small != (g.shape(g.input())[1] <= kSmallImage))
    g.problem(fmt::format("{}: made for images {} {} pixels wide, got {}", entry.name, small ? "at most" : "more than",
                          kSmallImage, g.shape(g.input())[1]));
  TensorId x = stem(g, d->unit, small);
  for (int stage = 0; stage < d->stages; ++stage) {
    const std::int64_t channels = (small ? std::int64_t{16} : d->bottleneck ? std::int64_t{256} : std::int64_t{64}) << stage;
    for (int i = 0; i < d->units[static_cast<std::size_t>(stage)]; ++i) {
      const UnitShape u{fmt::format("stage{}_unit{}", stage + 1, i + 1), channels, stage > 0 && i == 0 ? 2 : 1, i == 0};
      x = d->unit == Unit::pre_activation ? pre_activation_unit(g, x, d->bottleneck, u) : post_activation_unit(g, x, d->unit, u);
    }
  }
  if (d->unit == Unit::pre_activation) x = g.relu(g.batch_norm(x, "bn1"), "relu1");
  x = g.flatten(g.global_average_pool(x, "pool1"), "flatten0");
  x = g.linear(x, options.classes.value_or(small ? 10 : 1000), "fc1");
  g.softmax_loss(x, "softmax");
  return std::move(g).finish();
}

}  // namespace

void append_resnet_mxnet(std::vector<ZooEntry>& entries) {
  for (const MxnetDefinition& d : kDefinitions) {
    ZooEntry entry =
        image_classifier(std::string(d.name), "mxnet", std::string(d.source), build, d.stages == 3 ? kSmallImage : 224);
    if (d.stages == 3) entry.dataset = "CIFAR-10";
    entries.push_back(std::move(entry));
  }
}

}  // namespace tbdsim
