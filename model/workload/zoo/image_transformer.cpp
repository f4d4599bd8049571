// timm's ViT, DeiT, BEiT, DINOv2, CaiT and MLP-Mixer: rows of patches through
// equal layers. Longer than most files of the folder, since the rows are its
// data.
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

constexpr const char* kVit =
    "huggingface/pytorch-image-models v0.6.12, "
    "timm/models/vision_transformer.py (Dosovitskiy et al., arXiv:2010.11929)";
constexpr const char* kDeit =
    "huggingface/pytorch-image-models v0.6.12, timm/models/deit.py (Touvron et "
    "al., arXiv:2012.12877)";
constexpr const char* kBeit =
    "huggingface/pytorch-image-models v0.6.12, timm/models/beit.py (Bao et "
    "al., arXiv:2106.08254)";
constexpr const char* kDino =
    "huggingface/pytorch-image-models v0.9.2, vit_giant_patch14_dinov2 (Oquab "
    "et al., arXiv:2304.07193)";
constexpr const char* kCait =
    "huggingface/pytorch-image-models v0.6.12, timm/models/cait.py (Touvron et "
    "al., arXiv:2103.17239)";
constexpr const char* kMixer =
    "huggingface/pytorch-image-models v0.6.12, timm/models/mlp_mixer.py "
    "(Tolstikhin et al., arXiv:2105.01601)";

enum class Kind {
  vit,        ///< a token for the class, learned positions
  distilled,  ///< and a token for the teacher, with a classifier of its own
  beit,       ///< positions by distance in every layer; the mean of the patches is
              ///< classified; blocks are scaled
  dino,       ///< a gated feed-forward block; blocks are scaled
  cait,       ///< heads talk to each other before and after the softmax; two last
              ///< layers look from the class alone
  mixer,      ///< products over patches in place of attention
};

struct ImageTransformerDefinition {
  std::string_view name;
  Kind kind;
  std::int64_t patch, layers, width, heads;
  int image = 224;
};
constexpr std::array kDefinitions = {
    ImageTransformerDefinition{"vit_tiny_patch16_224", Kind::vit, 16, 12, 192, 3},
    ImageTransformerDefinition{"vit_small_patch16_224", Kind::vit, 16, 12, 384, 6},
    ImageTransformerDefinition{"vit_base_patch16_224", Kind::vit, 16, 12, 768, 12},
    ImageTransformerDefinition{"vit_base_patch32_224", Kind::vit, 32, 12, 768, 12},
    ImageTransformerDefinition{"vit_large_patch16_224", Kind::vit, 16, 24, 1024, 16},
    ImageTransformerDefinition{"vit_huge_patch14_224", Kind::vit, 14, 32, 1280, 16},
    ImageTransformerDefinition{"vit_giant_patch14_dinov2", Kind::dino, 14, 40, 1536, 24, 518},
    ImageTransformerDefinition{"deit_tiny_patch16_224", Kind::vit, 16, 12, 192, 3},
    ImageTransformerDefinition{"deit_small_patch16_224", Kind::vit, 16, 12, 384, 6},
    ImageTransformerDefinition{"deit_base_patch16_224", Kind::vit, 16, 12, 768, 12},
    ImageTransformerDefinition{"deit_base_distilled_patch16_224", Kind::distilled, 16, 12, 768, 12},
    ImageTransformerDefinition{"beit_base_patch16_224", Kind::beit, 16, 12, 768, 12},
    ImageTransformerDefinition{"beit_large_patch16_224", Kind::beit, 16, 24, 1024, 16},
    ImageTransformerDefinition{"cait_xxs24_224", Kind::cait, 16, 24, 192, 4},
    ImageTransformerDefinition{"cait_s24_224", Kind::cait, 16, 24, 384, 8},
    ImageTransformerDefinition{"cait_m36_384", Kind::cait, 16, 36, 768, 16, 384},
    ImageTransformerDefinition{"mixer_b16_224", Kind::mixer, 16, 12, 768, 1},
    ImageTransformerDefinition{"mixer_l16_224", Kind::mixer, 16, 24, 1024, 1},
};

bool scales_blocks(Kind kind) { return kind == Kind::beit || kind == Kind::dino || kind == Kind::cait; }

/// Patches as rows: the convolution's maps, seen with channels last.
TensorId patches(GraphBuilder& g, const ImageTransformerDefinition& d) {
  const TensorId x = g.convolution(g.input(), valid_convolution(d.width, d.patch, d.patch, true), "patch_embed");
  const Shape maps = g.shape(x);
  return maps.size() == 3 ? g.reshape(x, {maps[1] * maps[2], d.width}, "patch_embed.rows") : x;
}

/// Heads x rows x rows, each pair's scores through a product over the heads.
TensorId talk(GraphBuilder& g, TensorId scores, const std::string& name) {
  const Shape in = g.shape(scores);
  if (in.size() != 3) return scores;  // only after an earlier problem
  const TensorId pairs = g.reshape(g.transpose(scores, {1, 2, 0}, name + ".last"), {in[1] * in[2], in[0]}, name + ".pairs");
  return g.transpose(g.reshape(g.linear(pairs, in[0], name), {in[1], in[2], in[0]}, name + ".view"), {2, 0, 1}, name + ".first");
}

TensorId heads_of(GraphBuilder& g, TensorId x, const ImageTransformerDefinition& d, const std::string& name) {
  const TensorId parts = g.reshape(x, {g.shape(x).front(), d.heads, d.width / d.heads}, name + "_heads");
  return g.transpose(parts, {1, 0, 2}, name + "_permute");
}

/// softmax(q k^T) v and the projection after it; `talks`: heads exchange before
/// and after the softmax.
TensorId attend(GraphBuilder& g, std::array<TensorId, 3> qkv, const ImageTransformerDefinition& d, bool talks,
                const std::string& p) {
  const std::int64_t rows = g.shape(qkv[0]).front();
  const TensorId query = g.add(OpKind::multiply, {heads_of(g, qkv[0], d, p + "q")}, {}, p + "q_scale");
  TensorId scores = g.add(OpKind::matmul, {query, heads_of(g, qkv[1], d, p + "k")}, MatmulAttributes{true}, p + "scores");
  if (talks) scores = talk(g, scores, p + "proj_l");
  TensorId shares = g.add(OpKind::softmax, {scores}, {}, p + "softmax");
  if (talks) shares = talk(g, shares, p + "proj_w");
  const TensorId context =
      g.add(OpKind::matmul, {shares, heads_of(g, qkv[2], d, p + "v")}, MatmulAttributes{false}, p + "context");
  const TensorId merged = g.reshape(g.transpose(context, {1, 0, 2}, p + "context_permute"), {rows, d.width}, p + "context_merge");
  return g.linear(merged, d.width, p + "proj");
}

TensorId talking_attention(GraphBuilder& g, TensorId x, const ImageTransformerDefinition& d, const std::string& p) {
  const TensorId all = g.linear(x, 3 * d.width, p + "qkv");
  const auto part = [&](std::int64_t i, const char* name) {
    return g.add(OpKind::slice, {all}, SliceAttributes{1, i * d.width, (i + 1) * d.width}, p + name);
  };
  return attend(g, {part(0, "query"), part(1, "key"), part(2, "value")}, d, true, p);
}

/// Queries and values have a bias in BEiT, keys have none: as many numbers as
/// two of three.
TensorId attention(GraphBuilder& g, TensorId x, const ImageTransformerDefinition& d, bool fused, const std::string& p) {
  if (d.kind == Kind::cait) return talking_attention(g, x, d, p);
  const std::int64_t rows = g.shape(x).front();
  ImageAttention a;
  a.width = d.width;
  a.heads = d.heads;
  if (d.kind == Kind::beit) {
    std::int64_t side = 1;
    while ((side + 1) * (side + 1) < rows) ++side;
    a.distances = (2 * side - 1) * (2 * side - 1) + 3;  // and three for the token of the class
    a.bias = false;
    a.query_value_bias = true;
    a.scales_queries = true;
  }
  a.fused = fused && d.kind != Kind::beit;
  return image_attention(g, x, a, p);
}

TensorId feed_forward(GraphBuilder& g, TensorId x, const ImageTransformerDefinition& d, const std::string& p) {
  if (d.kind != Kind::dino) return image_mlp(g, x, 4 * d.width, p);
  const std::int64_t hidden = d.width * 16 / 6 / 8 * 8;  // 2.66667 of the width, gate and value from one product
  const TensorId both = g.linear(x, 2 * hidden, p + "fc1");
  const TensorId gate = g.add(OpKind::slice, {both}, SliceAttributes{1, 0, hidden}, p + "gate"),
                 value = g.add(OpKind::slice, {both}, SliceAttributes{1, hidden, 2 * hidden}, p + "value");
  const TensorId open = g.activation(gate, ActivationKind::silu, p + "act");
  return g.linear(g.add(OpKind::multiply, {open, value}, {}, p + "gated"), d.width, p + "fc2");
}

TensorId block(GraphBuilder& g, TensorId x, const ImageTransformerDefinition& d, bool fused, const std::string& p) {
  const auto scaled = [&](TensorId y, const char* name) {
    return scales_blocks(d.kind) ? g.add(OpKind::learned_scale, {y}, {}, p + name) : y;
  };
  x = g.plus(x, scaled(attention(g, layer_norm(g, x, p + "norm1"), d, fused, p + "attn."), "gamma_1"), p + "add1");
  return g.plus(x, scaled(feed_forward(g, layer_norm(g, x, p + "norm2"), d, p + "mlp."), "gamma_2"), p + "add2");
}

/// Products over patches, then over channels.
TensorId mixer_block(GraphBuilder& g, TensorId x, const ImageTransformerDefinition& d, const std::string& p) {
  TensorId y = g.transpose(layer_norm(g, x, p + "norm1"), {1, 0}, p + "columns");
  y = image_mlp(g, y, d.width / 2, p + "mlp_tokens.");
  x = g.plus(x, g.transpose(y, {1, 0}, p + "rows"), p + "add1");
  return g.plus(x, image_mlp(g, layer_norm(g, x, p + "norm2"), 4 * d.width, p + "mlp_channels."), p + "add2");
}

/// The class looks at itself and all patches.
TensorId class_block(GraphBuilder& g, TensorId token, TensorId x, const ImageTransformerDefinition& d, const std::string& p) {
  const TensorId all = layer_norm(g, g.add(OpKind::concat, {token, x}, ConcatAttributes{0}, p + "cat"), p + "norm1");
  const TensorId first = g.add(OpKind::slice, {all}, SliceAttributes{0, 0, 1}, p + "first");
  const TensorId seen =
      attend(g, {g.linear(first, d.width, p + "q"), g.linear(all, d.width, p + "k"), g.linear(all, d.width, p + "v")}, d, false,
             p + "attn.");
  token = g.plus(token, g.add(OpKind::learned_scale, {seen}, {}, p + "gamma_1"), p + "add1");
  const TensorId y = image_mlp(g, layer_norm(g, token, p + "norm2"), 4 * d.width, p + "mlp.");
  return g.plus(token, g.add(OpKind::learned_scale, {y}, {}, p + "gamma_2"), p + "add2");
}

/// The token of the class, whose rows a batch shares, and two layers that it
/// alone goes through.
TensorId class_layers(GraphBuilder& g, TensorId x, const ImageTransformerDefinition& d) {
  const TensorId with = g.add(OpKind::prepend_token, {x}, {}, "cls_token");
  TensorId token = g.add(OpKind::slice, {with}, SliceAttributes{0, 0, 1}, "cls_token.row");
  for (int i = 0; i < 2; ++i) token = class_block(g, token, x, d, fmt::format("blocks_token_only.{}.", i));
  return g.add(OpKind::concat, {token, x}, ConcatAttributes{0}, "cat");
}

TensorId row(GraphBuilder& g, TensorId x, std::int64_t index, const std::string& name) {
  return g.add(OpKind::slice, {x}, SliceAttributes{0, index, index + 1}, name);
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& r) { return r.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  const std::int64_t classes = options.classes.value_or(1000);
  TensorId x = patches(g, *d);
  if (d->kind == Kind::distilled) x = g.add(OpKind::prepend_token, {x}, {}, "dist_token");
  if (d->kind != Kind::mixer && d->kind != Kind::cait) x = g.add(OpKind::prepend_token, {x}, {}, "cls_token");
  if (d->kind != Kind::mixer && d->kind != Kind::beit)
    x = g.add(OpKind::learned_bias, {x}, LearnedBiasAttributes{g.shape(x).front()}, "pos_embed");
  for (std::int64_t i = 0; i < d->layers; ++i) {
    const std::string p = fmt::format("blocks.{}.", i);
    x = d->kind == Kind::mixer ? mixer_block(g, x, *d, p) : block(g, x, *d, options.fused_attention, p);
  }
  if (d->kind == Kind::cait) x = class_layers(g, x, *d);
  if (d->kind == Kind::mixer) {
    x = g.add(OpKind::reduce, {layer_norm(g, x, "norm")}, ReduceAttributes{0}, "mean");
  } else if (d->kind == Kind::beit) {
    const TensorId rest = g.add(OpKind::slice, {x}, SliceAttributes{0, 1, g.shape(x).front()}, "patches");
    x = layer_norm(g, g.add(OpKind::reduce, {rest}, ReduceAttributes{0}, "mean"), "fc_norm");
  } else {
    x = layer_norm(g, x, "norm");
    if (d->kind == Kind::distilled) g.softmax_loss(g.linear(row(g, x, 1, "teacher"), classes, "head_dist"), "loss_dist");
    x = row(g, x, 0, "first");
  }
  g.softmax_loss(g.linear(x, classes, "head"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_image_transformer(std::vector<ZooEntry>& entries) {
  for (const ImageTransformerDefinition& d : kDefinitions) {
    const char* source = d.name.starts_with("deit") ? kDeit
                         : d.kind == Kind::beit     ? kBeit
                         : d.kind == Kind::dino     ? kDino
                         : d.kind == Kind::cait     ? kCait
                         : d.kind == Kind::mixer    ? kMixer
                                                    : kVit;
    ZooEntry entry = image_classifier(std::string(d.name), "timm", source, build, d.image);
    entry.layers = std::to_string(d.layers);
    if (d.kind != Kind::mixer) entry.dominant_layer = "attention";
    entries.push_back(std::move(entry));
  }
}

}  // namespace tbdsim
