// timm's networks that mix patches without attention: gMLP, gMixer, ResMLP and PoolFormer.
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/image_attention.hpp"
#include "model/workload/zoo/transformer_layers.hpp"

namespace tbdsim {
namespace {

constexpr const char* kMixer =
    "huggingface/pytorch-image-models v0.6.12, timm/models/mlp_mixer.py (gMLP: arXiv:2105.08050, ResMLP: arXiv:2105.03404)";
constexpr const char* kPool = "huggingface/pytorch-image-models v0.6.12, timm/models/poolformer.py (Yu et al., arXiv:2111.11418)";
constexpr std::int64_t kPatch = 16;

TensorId columns(GraphBuilder& g, TensorId x, const std::string& name) { return g.transpose(x, {1, 0}, name); }

TensorId half(GraphBuilder& g, TensorId x, bool first, const std::string& name) {
  const std::int64_t width = g.shape(x).back();
  return g.add(OpKind::slice, {x}, SliceAttributes{1, first ? 0 : width / 2, first ? width / 2 : width}, name);
}

/// Half of the features, gated by the other half mixed over patches.
TensorId gmlp_block(GraphBuilder& g, TensorId x, const std::string& p) {
  const std::int64_t patches = g.shape(x).front(), width = g.shape(x).back();
  const TensorId y = g.activation(g.linear(layer_norm(g, x, p + "norm"), 6 * width, p + "fc1"), ActivationKind::gelu, p + "act");
  TensorId gate = columns(g, layer_norm(g, half(g, y, false, p + "v"), p + "gate.norm"), p + "gate.columns");
  gate = columns(g, g.linear(gate, patches, p + "gate.proj"), p + "gate.rows");
  const TensorId gated = g.add(OpKind::multiply, {half(g, y, true, p + "u"), gate}, {}, p + "gated");
  return g.plus(x, g.linear(gated, width, p + "fc2"), p + "add");
}

/// A product, half of it gated by the SiLU of the other half, a product.
TensorId glu(GraphBuilder& g, TensorId x, std::int64_t hidden, const std::string& p) {
  const std::int64_t width = g.shape(x).back();
  const TensorId y = g.linear(x, hidden, p + "fc1");
  const TensorId open = g.activation(half(g, y, false, p + "gate"), ActivationKind::silu, p + "act");
  return g.linear(g.add(OpKind::multiply, {half(g, y, true, p + "value"), open}, {}, p + "gated"), width, p + "fc2");
}

TensorId gmixer_block(GraphBuilder& g, TensorId x, const std::string& p) {
  const std::int64_t width = g.shape(x).back();
  const TensorId y = glu(g, columns(g, layer_norm(g, x, p + "norm1"), p + "columns"), width, p + "mlp_tokens.");
  x = g.plus(x, columns(g, y, p + "rows"), p + "add1");
  return g.plus(x, glu(g, layer_norm(g, x, p + "norm2"), 4 * width, p + "mlp_channels."), p + "add2");
}

/// A factor and a sum for each feature in place of a norm.
TensorId affine(GraphBuilder& g, TensorId x, const std::string& name) {
  return g.add(OpKind::learned_bias, {g.add(OpKind::learned_scale, {x}, {}, name + ".alpha")}, LearnedBiasAttributes{}, name);
}

TensorId resmlp_block(GraphBuilder& g, TensorId x, const std::string& p) {
  const std::int64_t patches = g.shape(x).front(), width = g.shape(x).back();
  const TensorId y = g.linear(columns(g, affine(g, x, p + "norm1"), p + "columns"), patches, p + "linear_tokens");
  x = g.plus(x, g.add(OpKind::learned_scale, {columns(g, y, p + "rows")}, {}, p + "ls1"), p + "add1");
  const TensorId z = image_mlp(g, affine(g, x, p + "norm2"), 4 * width, p + "mlp_channels.");
  return g.plus(x, g.add(OpKind::learned_scale, {z}, {}, p + "ls2"), p + "add2");
}

struct MixerDefinition {
  std::string_view name;
  std::int64_t width;
  int layers;
  TensorId (*block)(GraphBuilder&, TensorId, const std::string&);
  TensorId (*norm)(GraphBuilder&, TensorId, const std::string&);
};
constexpr std::array kMixers = {MixerDefinition{"gmlp_s16_224", 256, 30, gmlp_block, layer_norm},
                                MixerDefinition{"gmixer_24_224", 384, 24, gmixer_block, layer_norm},
                                MixerDefinition{"resmlp_12_224", 384, 12, resmlp_block, affine},
                                MixerDefinition{"resmlp_24_224", 384, 24, resmlp_block, affine}};

void finish(GraphBuilder& g, TensorId x, const ZooOptions& options) {
  g.softmax_loss(g.linear(x, options.classes.value_or(1000), "head"), "loss");
}

Result<OpGraph> build_mixer(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  for (const MixerDefinition& d : kMixers) {
    if (d.name != entry.name) continue;
    TensorId x = g.convolution(g.input(), valid_convolution(d.width, kPatch, kPatch, true), "stem.proj");
    const Shape maps = g.shape(x);
    if (maps.size() == 3) x = g.reshape(x, {maps[1] * maps[2], d.width}, "stem.rows");
    for (int i = 0; i < d.layers; ++i) x = d.block(g, x, fmt::format("blocks.{}.", i));
    finish(g, g.add(OpKind::reduce, {d.norm(g, x, "norm")}, ReduceAttributes{0}, "mean"), options);
  }
  return std::move(g).finish();
}

struct PoolFormerDefinition {
  std::string_view name;
  std::array<std::int64_t, 4> widths;
  std::array<int, 4> depths;
};
constexpr std::array kPoolFormers = {PoolFormerDefinition{"poolformer_s12", {64, 128, 320, 512}, {2, 2, 6, 2}},
                                     PoolFormerDefinition{"poolformer_s36", {64, 128, 320, 512}, {6, 6, 18, 6}},
                                     PoolFormerDefinition{"poolformer_m36", {96, 192, 384, 768}, {6, 6, 18, 6}}};

TensorId whole_norm(GraphBuilder& g, TensorId x, const std::string& name) {
  return g.add(OpKind::group_norm, {x}, GroupNormAttributes{1}, name);
}

/// What a pool takes from the mean of the neighbours, less the pixel itself.
TensorId pool_block(GraphBuilder& g, TensorId x, const std::string& p) {
  const std::int64_t width = g.shape(x).front();
  const auto scaled = [&](TensorId y, const char* name) { return g.add(OpKind::learned_scale, {y}, {}, p + name); };
  const TensorId in = whole_norm(g, x, p + "norm1");
  const TensorId mixed = g.plus(g.pool(in, square_pool(PoolKind::average, 3, 1, 1), p + "pool"), in, p + "less");
  x = g.plus(x, scaled(mixed, "layer_scale_1"), p + "add1");
  TensorId y = g.convolution(whole_norm(g, x, p + "norm2"), same_convolution(4 * width, 1, 1, 1, true), p + "mlp.fc1");
  y = g.convolution(g.activation(y, ActivationKind::gelu, p + "mlp.act"), same_convolution(width, 1, 1, 1, true), p + "mlp.fc2");
  return g.plus(x, scaled(y, "layer_scale_2"), p + "add2");
}

Result<OpGraph> build_pool(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  for (const PoolFormerDefinition& d : kPoolFormers) {
    if (d.name != entry.name) continue;
    TensorId x = g.convolution(g.input(), ConvolutionAttributes{d.widths[0], 7, 7, 4, 4, 2, 2, 1, 1, true}, "patch_embed");
    for (std::size_t stage = 0; stage < d.widths.size(); ++stage) {
      if (stage > 0)
        x = g.convolution(x, same_convolution(d.widths[stage], 3, 2, 1, true), fmt::format("network.{}", 2 * stage - 1));
      for (int i = 0; i < d.depths[stage]; ++i) x = pool_block(g, x, fmt::format("network.{}.{}.", 2 * stage, i));
    }
    finish(g, g.flatten(g.global_average_pool(whole_norm(g, x, "norm"), "mean"), "flatten"), options);
  }
  return std::move(g).finish();
}

}  // namespace

void append_patch_mixers(std::vector<ZooEntry>& entries) {
  for (const MixerDefinition& d : kMixers) entries.push_back(image_classifier(std::string(d.name), "timm", kMixer, build_mixer));
  for (const PoolFormerDefinition& d : kPoolFormers)
    entries.push_back(image_classifier(std::string(d.name), "timm", kPool, build_pool));
}

}  // namespace tbdsim
