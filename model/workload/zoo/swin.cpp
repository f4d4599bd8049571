#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/image_attention.hpp"
#include "model/workload/zoo/transformer_layers.hpp"

namespace tbdsim {
namespace {

constexpr const char* kTorchvision = "torchvision 0.14, torchvision/models/swin_transformer.py (Liu et al., arXiv:2103.14030)";
constexpr const char* kTimm = "huggingface/pytorch-image-models v0.6.12, timm/models/swin_transformer.py";
constexpr std::int64_t kWindow = 7, kPatch = 4, kHeadWidth = 32;

struct SwinDefinition {
  std::string_view name, timm;
  std::int64_t width;
  std::array<int, 4> depths;
};
constexpr std::array kDefinitions = {
    SwinDefinition{"swin_t", "swin_tiny_patch4_window7_224", 96, {2, 2, 6, 2}},
    SwinDefinition{"swin_s", "swin_small_patch4_window7_224", 96, {2, 2, 18, 2}},
    SwinDefinition{"swin_b", "swin_base_patch4_window7_224", 128, {2, 2, 18, 2}},
};

/// H W x C between rows of the image and rows of its windows: a copy.
TensorId regroup(GraphBuilder& g, TensorId x, std::int64_t side, bool into_windows, const std::string& name) {
  const std::int64_t width = g.shape(x).back(), count = side / kWindow;
  const Shape parts = into_windows ? Shape{count, kWindow, count, kWindow, width} : Shape{count, count, kWindow, kWindow, width};
  const TensorId copied = g.transpose(g.reshape(x, parts, name + ".view"), {0, 2, 1, 3, 4}, name);
  return g.reshape(copied, {side * side, width}, name + ".rows");
}

/// Every second block moves the windows by half their side. A window as large as the map does not move.
TensorId block(GraphBuilder& g, TensorId x, std::int64_t side, bool moved, bool drops, const std::string& p) {
  const std::int64_t width = g.shape(x).back(), count = side / kWindow;
  const bool rolls = moved && count > 1;
  ImageAttention a;
  a.width = width;
  a.heads = width / kHeadWidth;
  a.windows = count * count;
  a.distances = (2 * kWindow - 1) * (2 * kWindow - 1);
  a.masked = rolls;
  a.scales_queries = true;
  const auto dropped = [&](TensorId y, const char* name) { return drops ? g.add(OpKind::multiply, {y}, {}, p + name) : y; };
  TensorId y = layer_norm(g, x, p + "norm1");
  if (rolls) y = g.transpose(y, {0, 1}, p + "roll");
  y = regroup(g, image_attention(g, regroup(g, y, side, true, p + "windows"), a, p + "attn."), side, false, p + "map");
  if (rolls) y = g.transpose(y, {0, 1}, p + "roll_back");
  x = g.plus(x, dropped(y, "drop_path1"), p + "add1");
  y = image_mlp(g, layer_norm(g, x, p + "norm2"), 4 * width, p + "mlp.");
  return g.plus(x, dropped(y, "drop_path2"), p + "add2");
}

/// Four neighbours become one of twice the width.
TensorId merge(GraphBuilder& g, TensorId x, std::int64_t side, const std::string& p) {
  const std::int64_t width = g.shape(x).back(), half = side / 2;
  const TensorId parts = g.transpose(g.reshape(x, {half, 2, half, 2, width}, p + "view"), {0, 2, 1, 3, 4}, p + "concat");
  return g.linear(layer_norm(g, g.reshape(parts, {half * half, 4 * width}, p + "rows"), p + "norm"), 2 * width, p + "reduction",
                  false);
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(),
                               [&](const auto& row) { return row.name == entry.name || row.timm == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  constexpr std::int64_t kStep = kPatch * kWindow * 8;  // sides that divide into whole windows on all four maps
  std::int64_t side = g.shape(g.input()).back();
  if (side < kStep || side % kStep != 0) {
    g.problem(fmt::format("{}: expects an image side that is a multiple of {}, got {}", entry.name, kStep, side));
    return std::move(g).finish();
  }
  side /= kPatch;
  TensorId x = g.convolution(g.input(), valid_convolution(d->width, kPatch, kPatch, true), "features.0.0");
  x = g.reshape(g.transpose(x, {1, 2, 0}, "features.0.1"), {side * side, d->width}, "features.0.rows");
  x = layer_norm(g, x, "features.0.2");
  bool drops = false;  // the first block always counts
  for (std::size_t stage = 0; stage < d->depths.size(); ++stage) {
    if (stage > 0) {
      x = merge(g, x, side, fmt::format("features.{}.", 2 * stage));
      side /= 2;
    }
    for (int i = 0; i < d->depths[stage]; ++i) {
      x = block(g, x, side, i % 2 == 1, drops, fmt::format("features.{}.{}.", 2 * stage + 1, i));
      drops = true;
    }
  }
  x = g.add(OpKind::reduce, {layer_norm(g, x, "norm")}, ReduceAttributes{0}, "avgpool");
  g.softmax_loss(g.linear(x, options.classes.value_or(1000), "head"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_swin(std::vector<ZooEntry>& entries) {
  for (const SwinDefinition& d : kDefinitions) {
    entries.push_back(image_classifier(std::string(d.name), "torchvision", kTorchvision, build));
    entries.push_back(image_classifier(std::string(d.timm), "timm", kTimm, build));
  }
}

}  // namespace tbdsim
