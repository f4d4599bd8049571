#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/transformer_layers.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource =
    "torchvision 0.14, torchvision/models/vision_transformer.py (Dosovitskiy et al., arXiv:2010.11929)";

struct VisionTransformerDefinition {
  std::string_view name;
  std::int64_t patch, layers, width, heads, filter;
};
constexpr std::array kDefinitions = {
    VisionTransformerDefinition{"vit_b_16", 16, 12, 768, 12, 3072},
    VisionTransformerDefinition{"vit_b_32", 32, 12, 768, 12, 3072},
    VisionTransformerDefinition{"vit_l_16", 16, 24, 1024, 16, 4096},
    VisionTransformerDefinition{"vit_l_32", 32, 24, 1024, 16, 4096},
    VisionTransformerDefinition{"vit_h_14", 14, 32, 1280, 16, 5120},
};

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  TransformerLayers t;
  t.width = d->width;
  t.heads = d->heads;
  t.filter = d->filter;
  t.pre_norm = true;
  t.fused_projection = true;
  t.scale = AttentionScale::query_and_key;
  t.fused_attention = options.fused_attention;  // nn.MultiheadAttention, need_weights=False
  t.dropout = t.attention_dropout = 0.0;
  TensorId x = g.convolution(g.input(), valid_convolution(d->width, d->patch, d->patch, true), "conv_proj");
  const Shape patches = g.shape(x);
  if (patches.size() == 3) x = g.reshape(x, {d->width, patches[1] * patches[2]}, "patches");
  x = g.add(OpKind::prepend_token, {g.transpose(x, {1, 0}, "tokens")}, {}, "class_token");
  x = g.add(OpKind::learned_bias, {x}, LearnedBiasAttributes{g.shape(x).front()}, "pos_embedding");
  for (std::int64_t i = 0; i < d->layers; ++i) x = transformer_layer(g, x, t, AttentionMask::none, fmt::format("encoder.{}.", i));
  x = g.add(OpKind::gather, {layer_norm(g, x, "encoder.ln")}, GatherAttributes{1}, "first");
  g.softmax_loss(g.linear(x, options.classes.value_or(1000), "head"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_vision_transformer(std::vector<ZooEntry>& entries) {
  for (const VisionTransformerDefinition& d : kDefinitions) {
    ZooEntry entry = image_classifier(std::string(d.name), "torchvision", kSource, build);
    entry.layers = std::to_string(d.layers);
    entry.dominant_layer = "attention";
    entries.push_back(std::move(entry));
  }
}

}  // namespace tbdsim
