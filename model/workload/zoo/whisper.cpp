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
    "openai/whisper, whisper/model.py (Radford et al., arXiv:2212.04356), as in Hugging Face transformers";
constexpr std::int64_t kBands = 80, kFrames = 3000, kWords = 51865, kPositions = 448;
constexpr double kSeconds = 30.0;  // of audio in a sample

struct WhisperDefinition {
  std::string_view name;
  std::int64_t layers, width, heads;
};
constexpr std::array kDefinitions = {WhisperDefinition{"whisper-tiny", 4, 384, 6}, WhisperDefinition{"whisper-base", 6, 512, 8},
                                     WhisperDefinition{"whisper-small", 12, 768, 12},
                                     WhisperDefinition{"whisper-medium", 24, 1024, 16},
                                     WhisperDefinition{"whisper-large", 32, 1280, 20}};

/// Keys have no bias. `fused`: as later releases of the code, in one operator.
TensorId attention(GraphBuilder& g, TensorId x, TensorId memory, const WhisperDefinition& d, bool causal, bool fused,
                   const std::string& p) {
  if (fused) {
    const TensorId one = g.add(
        OpKind::attention,
        {g.linear(x, d.width, p + "query"), g.linear(memory, d.width, p + "key", false), g.linear(memory, d.width, p + "value")},
        AttentionAttributes{d.heads, causal, 0, 0, 0, false}, p + "attention");
    return g.linear(one, d.width, p + "out");
  }
  const auto heads = [&](TensorId y, const char* name, bool bias, bool scaled) {
    const std::string q = p + name;
    y = g.linear(y, d.width, q, bias);
    if (scaled) y = g.add(OpKind::multiply, {y}, {}, q + "_scale");
    return g.transpose(g.reshape(y, {g.shape(y).front(), d.heads, d.width / d.heads}, q + "_heads"), {1, 0, 2}, q + "_permute");
  };
  const TensorId query = heads(x, "query", true, true), key = heads(memory, "key", false, false),
                 value = heads(memory, "value", true, false);
  TensorId scores = g.add(OpKind::matmul, {query, key}, MatmulAttributes{true}, p + "scores");
  if (causal) scores = g.add(OpKind::mask, {scores}, {}, p + "mask");
  const TensorId shares = g.add(OpKind::softmax, {scores}, {}, p + "softmax");
  TensorId context = g.add(OpKind::matmul, {shares, value}, MatmulAttributes{false}, p + "context");
  context = g.reshape(g.transpose(context, {1, 0, 2}, p + "context_permute"), {g.shape(x).front(), d.width}, p + "context_merge");
  return g.linear(context, d.width, p + "out");
}

/// `memory`: of the encoder, for a decoder.
TensorId layer(GraphBuilder& g, TensorId x, const TensorId* memory, const WhisperDefinition& d, bool fused,
               const std::string& p) {
  TensorId y = layer_norm(g, x, p + "attn_ln");
  x = g.plus(x, attention(g, y, y, d, memory != nullptr, fused, p + "attn."), p + "attn_add");
  if (memory != nullptr) {
    y = layer_norm(g, x, p + "cross_ln");
    x = g.plus(x, attention(g, y, *memory, d, false, fused, p + "cross."), p + "cross_add");
  }
  y = g.activation(g.linear(layer_norm(g, x, p + "mlp_ln"), 4 * d.width, p + "mlp1"), ActivationKind::gelu, p + "gelu");
  return g.plus(x, g.linear(y, d.width, p + "mlp2"), p + "mlp_add");
}

/// Half a minute of audio and a text of `--seq-len` words.
Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = token_builder(entry, options, "clip");
  g.counts_in("audio second", kSeconds);
  g.later_calls_attention();
  const bool fused = options.fused_attention && options.later_code;
  const auto convolve = [&](TensorId y, std::int64_t stride, const std::string& name) {
    const ConvolutionAttributes a{d->width, 1, 3, 1, stride, 0, 1, 1, 1, true};
    return g.activation(g.convolution(y, a, name), ActivationKind::gelu, name + ".gelu");
  };
  TensorId x = convolve(convolve(g.another_input(Shape{kBands, 1, kFrames}, "spectrogram"), 1, "conv1"), 2, "conv2");
  x = g.transpose(g.reshape(x, {d->width, kFrames / 2}, "frames"), {1, 0}, "frames_first");
  x = g.add(OpKind::mask, {x}, {}, "encoder.position");  // sinusoids
  for (std::int64_t i = 0; i < d->layers; ++i) x = layer(g, x, nullptr, *d, fused, fmt::format("encoder.{}.", i));
  const TensorId memory = layer_norm(g, x, "encoder.ln_post");
  x = token_embedding(g, g.input(), kWords, d->width, "decoder.token_embedding");
  x = g.add(OpKind::learned_bias, {x}, LearnedBiasAttributes{kPositions}, "decoder.position");
  for (std::int64_t i = 0; i < d->layers; ++i) x = layer(g, x, &memory, *d, fused, fmt::format("decoder.{}.", i));
  g.softmax_loss(tied_linear(g, layer_norm(g, x, "decoder.ln"), kWords, "scores"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_whisper(std::vector<ZooEntry>& entries) {
  for (const WhisperDefinition& d : kDefinitions) {
    entries.push_back(sequence_entry(std::string(d.name), "pytorch", "speech recognition", "30 s clips", 128, 8, kSource, build));
    entries.back().layers = fmt::format("{}+{}", d.layers, d.layers);
    entries.back().dominant_layer = "attention";
  }
}

}  // namespace tbdsim
