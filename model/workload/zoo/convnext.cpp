#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/transformer_layers.hpp"

namespace tbdsim {
namespace {

constexpr const char* kTorchvision = "torchvision 0.14, torchvision/models/convnext.py (Liu et al., arXiv:2201.03545)";
constexpr const char* kTimm = "huggingface/pytorch-image-models v0.6.12, timm/models/convnext.py";

struct ConvNextDefinition {
  std::string_view name;
  std::array<std::int64_t, 4> widths;
  std::array<int, 4> depths;
};
constexpr std::array kDefinitions = {
    ConvNextDefinition{"convnext_tiny", {96, 192, 384, 768}, {3, 3, 9, 3}},
    ConvNextDefinition{"convnext_small", {96, 192, 384, 768}, {3, 3, 27, 3}},
    ConvNextDefinition{"convnext_base", {128, 256, 512, 1024}, {3, 3, 27, 3}},
    ConvNextDefinition{"convnext_large", {192, 384, 768, 1536}, {3, 3, 27, 3}},
};

/// C x H x W to HW x C. A view: from the first norm on, channels lie last in memory.
TensorId rows(GraphBuilder& g, TensorId x, const std::string& name) {
  const Shape y = g.shape(x);
  return y.size() == 3 ? g.reshape(x, {y[1] * y[2], y[0]}, name) : x;
}

/// Layer norm of every pixel's channels.
TensorId pixel_norm(GraphBuilder& g, TensorId x, const std::string& name) {
  const Shape y = g.shape(x);
  return g.reshape(layer_norm(g, rows(g, x, name + ".last"), name), y, name + ".first");
}

TensorId block(GraphBuilder& g, TensorId x, bool drops, const std::string& p) {
  const Shape in = g.shape(x);
  const std::int64_t width = in.front();
  TensorId y = rows(g, g.convolution(x, same_convolution(width, 7, 1, width, true), p + "0"), p + "1");
  y = g.activation(g.linear(layer_norm(g, y, p + "2"), 4 * width, p + "3"), ActivationKind::gelu, p + "4");
  y = g.reshape(g.linear(y, width, p + "5"), in, p + "6");
  y = g.add(OpKind::learned_scale, {y}, {}, p + "layer_scale");
  if (drops) y = g.add(OpKind::multiply, {y}, {}, p + "stochastic_depth");
  return g.plus(y, x, p + "add");
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  TensorId x = g.convolution(g.input(), valid_convolution(d->widths[0], 4, 4, true), "features.0.0");
  // The norm wants channels last: a copy here, and a view in all later layers, which keep that order.
  if (g.shape(x).size() == 3) {
    const Shape first = g.shape(x);
    x = g.reshape(layer_norm(g, g.transpose(x, {1, 2, 0}, "features.0.1.last"), "features.0.1"), first, "features.0.1.first");
  }
  const bool torchvision = entry.variant == "torchvision";
  bool drops = false;  // the first block always counts; timm leaves none out unless told to
  for (std::size_t stage = 0; stage < d->widths.size(); ++stage) {
    const std::string p = fmt::format("features.{}.", 2 * stage);
    if (stage > 0) {
      x = pixel_norm(g, x, p + "0");
      x = g.convolution(x, valid_convolution(d->widths[stage], 2, 2, true), p + "1");
    }
    for (int i = 0; i < d->depths[stage]; ++i) {
      x = block(g, x, drops, fmt::format("features.{}.{}.block.", 2 * stage + 1, i));
      drops = torchvision;
    }
  }
  x = pixel_norm(g, g.global_average_pool(x, "avgpool"), "classifier.0");
  g.softmax_loss(g.linear(g.flatten(x, "classifier.1"), options.classes.value_or(1000), "classifier.2"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_convnext(std::vector<ZooEntry>& entries) {
  for (const ConvNextDefinition& d : kDefinitions) {
    entries.push_back(image_classifier(std::string(d.name), "torchvision", kTorchvision, build));
    entries.push_back(image_classifier(std::string(d.name), "timm", kTimm, build));
  }
}

}  // namespace tbdsim
