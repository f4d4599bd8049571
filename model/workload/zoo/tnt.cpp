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

constexpr const char* kSource = "huggingface/pytorch-image-models v0.6.12, timm/models/tnt.py (Han et al., arXiv:2103.00112)";
constexpr std::int64_t kPatch = 16, kStep = 4, kPixels = kPatch / kStep * (kPatch / kStep), kLayers = 12, kInnerHeads = 4;

/// A transformer over patches, and in each of its layers one over the pixels of every patch.
struct TntDefinition {
  std::string_view name;
  std::int64_t width, heads, inner;
};
constexpr std::array kDefinitions = {TntDefinition{"tnt_s_patch16_224", 384, 6, 24},
                                     TntDefinition{"tnt_b_patch16_224", 640, 10, 40}};

/// Queries and keys come from one product there, values from another: here from one.
TensorId attend(GraphBuilder& g, TensorId x, std::int64_t width, std::int64_t heads, std::int64_t windows, const std::string& p) {
  ImageAttention a;
  a.width = width;
  a.heads = heads;
  a.windows = windows;
  a.bias = false;
  return image_attention(g, x, a, p);
}

TensorId layer(GraphBuilder& g, TensorId x, std::int64_t heads, std::int64_t windows, const std::string& p) {
  const std::int64_t width = g.shape(x).back();
  x = g.plus(x, attend(g, layer_norm(g, x, p + "norm"), width, heads, windows, p + "attn."), p + "add1");
  return g.plus(x, image_mlp(g, layer_norm(g, x, p + "norm_mlp"), 4 * width, p + "mlp."), p + "add2");
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  const std::int64_t side = g.shape(g.input()).back() / kPatch, patches = side * side, cell = kPatch / kStep;
  if (patches < 1 || g.shape(g.input()).back() % kPatch != 0) {
    g.problem(fmt::format("{}: expects an image side that is a multiple of {}", entry.name, kPatch));
    return std::move(g).finish();
  }
  TensorId pixels =
      g.convolution(g.input(), ConvolutionAttributes{d->inner, 7, 7, kStep, kStep, 3, 3, 1, 1, true}, "pixel_embed.proj");
  pixels = g.reshape(pixels, {d->inner, side, cell, side, cell}, "pixel_embed.cells");
  pixels = g.transpose(pixels, {0, 2, 4, 1, 3}, "pixel_embed.unfold");
  pixels = g.transpose(g.reshape(pixels, {d->inner * kPixels, patches}, "pixel_embed.columns"), {1, 0}, "pixel_embed.rows");
  pixels = g.add(OpKind::learned_bias, {pixels}, LearnedBiasAttributes{}, "pixel_pos");
  // Pixels lie last there: the first norm copies them into rows of channels.
  pixels = g.transpose(g.reshape(pixels, {patches, d->inner, kPixels}, "pixel_embed.split"), {0, 2, 1}, "pixel_embed.last");
  pixels = g.reshape(pixels, {patches * kPixels, d->inner}, "pixel_embed.flat");
  const auto joined = [&](TensorId x, const std::string& name) { return g.reshape(x, {patches, kPixels * d->inner}, name); };
  TensorId x = g.linear(layer_norm(g, joined(pixels, "joined"), "norm1_proj"), d->width, "proj");
  x = g.add(OpKind::prepend_token, {layer_norm(g, x, "norm2_proj")}, {}, "cls_token");
  x = g.add(OpKind::learned_bias, {x}, LearnedBiasAttributes{patches + 1}, "patch_pos");
  for (std::int64_t i = 0; i < kLayers; ++i) {
    const std::string p = fmt::format("blocks.{}.", i);
    pixels = layer(g, pixels, kInnerHeads, patches, p + "inner.");
    const TensorId seen = g.linear(joined(layer_norm(g, pixels, p + "norm1_proj"), p + "joined"), d->width, p + "proj");
    const TensorId first = g.add(OpKind::slice, {x}, SliceAttributes{0, 0, 1}, p + "first"),
                   rest = g.add(OpKind::slice, {x}, SliceAttributes{0, 1, patches + 1}, p + "rest");
    x = g.add(OpKind::concat, {first, g.plus(rest, seen, p + "seen")}, ConcatAttributes{0}, p + "cat");
    x = layer(g, x, d->heads, 1, p + "outer.");
  }
  x = g.add(OpKind::slice, {layer_norm(g, x, "norm")}, SliceAttributes{0, 0, 1}, "first");
  g.softmax_loss(g.linear(x, options.classes.value_or(1000), "head"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_tnt(std::vector<ZooEntry>& entries) {
  for (const TntDefinition& d : kDefinitions) {
    entries.push_back(image_classifier(std::string(d.name), "timm", kSource, build));
    entries.back().layers = std::to_string(kLayers);
    entries.back().dominant_layer = "attention";
  }
}

}  // namespace tbdsim
