#include <fmt/format.h>

#include <array>
#include <span>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

/// Howard et al., arXiv:1905.02244, tables 1 and 2.
struct Bottleneck {
  std::int64_t kernel, expanded, channels;
  bool squeeze_excite;
  ActivationKind activation;
  std::int64_t stride;
};
constexpr ActivationKind kRelu = ActivationKind::relu;
constexpr ActivationKind kHswish = ActivationKind::hardswish;

constexpr std::array kLarge = {
    Bottleneck{3, 16, 16, false, kRelu, 1},    Bottleneck{3, 64, 24, false, kRelu, 2},
    Bottleneck{3, 72, 24, false, kRelu, 1},    Bottleneck{5, 72, 40, true, kRelu, 2},
    Bottleneck{5, 120, 40, true, kRelu, 1},    Bottleneck{5, 120, 40, true, kRelu, 1},
    Bottleneck{3, 240, 80, false, kHswish, 2}, Bottleneck{3, 200, 80, false, kHswish, 1},
    Bottleneck{3, 184, 80, false, kHswish, 1}, Bottleneck{3, 184, 80, false, kHswish, 1},
    Bottleneck{3, 480, 112, true, kHswish, 1}, Bottleneck{3, 672, 112, true, kHswish, 1},
    Bottleneck{5, 672, 160, true, kHswish, 2}, Bottleneck{5, 960, 160, true, kHswish, 1},
    Bottleneck{5, 960, 160, true, kHswish, 1},
};
constexpr std::array kSmall = {
    Bottleneck{3, 16, 16, true, kRelu, 2},    Bottleneck{3, 72, 24, false, kRelu, 2},   Bottleneck{3, 88, 24, false, kRelu, 1},
    Bottleneck{5, 96, 40, true, kHswish, 2},  Bottleneck{5, 240, 40, true, kHswish, 1}, Bottleneck{5, 240, 40, true, kHswish, 1},
    Bottleneck{5, 120, 48, true, kHswish, 1}, Bottleneck{5, 144, 48, true, kHswish, 1}, Bottleneck{5, 288, 96, true, kHswish, 2},
    Bottleneck{5, 576, 96, true, kHswish, 1}, Bottleneck{5, 576, 96, true, kHswish, 1},
};

TensorId unit(GraphBuilder& g, TensorId x, ConvolutionAttributes a, ActivationKind activation, const std::string& name) {
  return g.activation(g.batch_norm(g.convolution(x, a, name + ".0"), name + ".1"), activation, name + ".2", true);
}

TensorId squeeze_excite(GraphBuilder& g, TensorId x, const std::string& name) {
  const std::int64_t channels = g.shape(x)[0];
  const std::int64_t quarter = channels / 4;
  const std::int64_t squeezed = round_to_eight(static_cast<double>(quarter));
  TensorId s = g.global_average_pool(x, name + ".avgpool");
  s = g.relu(g.convolution(s, same_convolution(squeezed, 1, 1, 1, true), name + ".fc1"), name + ".activation", true);
  s = g.convolution(s, same_convolution(channels, 1, 1, 1, true), name + ".fc2");
  s = g.activation(s, ActivationKind::hardsigmoid, name + ".scale_activation");
  return g.add(OpKind::multiply, {x, s}, {}, name + ".scale");
}

TensorId bottleneck(GraphBuilder& g, TensorId x, const Bottleneck& b, const std::string& name) {
  const std::int64_t in = g.shape(x)[0];
  int index = 0;
  const auto part = [&] { return fmt::format("{}.block.{}", name, index++); };
  TensorId y = x;
  if (b.expanded != in) y = unit(g, y, same_convolution(b.expanded, 1), b.activation, part());
  y = unit(g, y, same_convolution(b.expanded, b.kernel, b.stride, b.expanded), b.activation, part());
  if (b.squeeze_excite) y = squeeze_excite(g, y, part());
  const std::string last = part();
  y = g.batch_norm(g.convolution(y, same_convolution(b.channels, 1), last + ".0"), last + ".1");
  return b.stride == 1 && in == b.channels ? g.add(OpKind::add, {y, x}, {}, name + ".add", true) : y;
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const bool large = entry.name == "mobilenet_v3_large";
  const std::span<const Bottleneck> rows = large ? std::span<const Bottleneck>(kLarge) : std::span<const Bottleneck>(kSmall);
  GraphBuilder g = image_builder(entry, options);
  TensorId x = unit(g, g.input(), same_convolution(16, 3, 2), kHswish, "features.0");
  int index = 1;
  for (const Bottleneck& b : rows) x = bottleneck(g, x, b, fmt::format("features.{}", index++));
  x = unit(g, x, same_convolution(6 * rows.back().channels, 1), kHswish, fmt::format("features.{}", index));
  x = g.flatten(g.global_average_pool(x, "avgpool"), "flatten");
  x = g.activation(g.linear(x, large ? 1280 : 1024, "classifier.0"), kHswish, "classifier.1", true);
  x = g.linear(g.dropout(x, 0.2, "classifier.2"), options.classes.value_or(1000), "classifier.3");
  g.softmax_loss(x, "loss");
  return std::move(g).finish();
}

}  // namespace

void append_mobilenet_v3(std::vector<ZooEntry>& entries) {
  for (const char* name : {"mobilenet_v3_large", "mobilenet_v3_small"})
    entries.push_back(image_classifier(name, "torchvision", "torchvision 0.14, torchvision/models/mobilenetv3.py", build));
}

}  // namespace tbdsim
