#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/transformer_layers.hpp"

namespace tbdsim {
namespace {

constexpr const char* kTensor2Tensor = "Vaswani et al., arXiv:1706.03762, as in tensor2tensor, models/transformer.py";
constexpr const char* kFairseq = "Vaswani et al., arXiv:1706.03762, as in fairseq, transformer_wmt_en_de_big_t2t";
constexpr const char* kNvidia =
    "Vaswani et al., arXiv:1706.03762, as in NVIDIA DeepLearningExamples, PyTorch/Translation/Transformer";
constexpr const char* kReference = "PyTorch 1.13 nn.TransformerEncoder between an embedding and a classifier of every token";

/// Subwords of WMT14 English-German in tensor2tensor's joint vocabulary of 32k, and padded to eights in fairseq.
constexpr std::int64_t kTensor2TensorWords = 33708, kFairseqWords = 33712;

/// Encoder and decoder over one table, which also scores the words.
Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const bool big = entry.name == "transformer-big", nvidia = entry.variant == "nvidia", fairseq = entry.variant == "pytorch";
  TransformerNetwork n;
  TransformerLayers& t = n.layer;
  t.width = big ? 1024 : 512;
  t.heads = big ? 16 : 8;
  t.filter = 4 * t.width;
  t.pre_norm = true;
  t.attention_bias = t.output_bias = fairseq;
  t.fused_projection = fairseq;
  t.scale = nvidia ? AttentionScale::product : AttentionScale::query;
  t.strided_heads = t.strided_context = nvidia;
  t.padding_mask = nvidia;
  t.activation = ActivationKind::relu;
  t.activation_dropout = 0.1;
  n.encoder_layers = n.decoder_layers = 6;
  n.words = fairseq || nvidia ? kFairseqWords : kTensor2TensorWords;
  n.scaled_embedding = true;
  GraphBuilder g = token_builder(entry, options, "sentence");
  g.counts_in("target token", static_cast<double>(sequence_length(entry, options)));
  transformer_network(g, n);
  return std::move(g).finish();
}

/// Post-norm encoder of six layers with learned positions: a small network to compare counts with PyTorch's own.
Result<OpGraph> build_reference(const ZooEntry& entry, const ZooOptions& options) {
  constexpr std::int64_t kWords = 32000;
  TransformerLayers t;
  t.activation = ActivationKind::relu;
  t.activation_dropout = 0.1;
  t.fused_projection = true;
  t.scale = AttentionScale::query_and_key;
  t.fused_attention = options.fused_attention;  // nn.TransformerEncoderLayer asks for no weights
  const std::int64_t steps = sequence_length(entry, options);
  GraphBuilder g = token_builder(entry, options, "sequence");
  g.counts_in("token", static_cast<double>(steps));
  TensorId x = token_embedding(g, g.input(), kWords, t.width, "e");
  x = g.add(OpKind::learned_bias, {x}, LearnedBiasAttributes{std::max<std::int64_t>(steps, 128)}, "p");
  for (int i = 0; i < 6; ++i) x = transformer_layer(g, x, t, AttentionMask::none, fmt::format("enc.layers.{}.", i));
  g.softmax_loss(g.linear(x, kWords, "out"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_transformer(std::vector<ZooEntry>& entries) {
  for (const char* name : {"transformer-base", "transformer-big"}) {
    for (const std::string_view variant : {"pytorch", "tf", "nvidia"}) {
      const char* source = variant == "pytorch" ? kFairseq : variant == "tf" ? kTensor2Tensor : kNvidia;
      // 32 words: near the mean of the data set; 64 sentences are the 2048 tokens of the TBD suite.
      ZooEntry entry =
          sequence_entry(name, std::string(variant), "machine translation", "WMT14 English-German", 32, 64, source, build);
      entry.layers = "12";
      entry.dominant_layer = "attention";
      entries.push_back(std::move(entry));
    }
  }
  ZooEntry entry =
      sequence_entry("transformer_encoder", "pytorch", "language modelling", "none", 128, 32, kReference, build_reference);
  entry.layers = "6";
  entry.dominant_layer = "attention";
  entries.push_back(std::move(entry));
}

}  // namespace tbdsim
