#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/transformer_layers.hpp"

namespace tbdsim {
namespace {

constexpr const char* kGpt2 = "Radford et al. 2019, as in Hugging Face transformers, models/gpt2";
constexpr const char* kGpt3 = "Brown et al., arXiv:2005.14165, table 2.1 (heads of 128 where its widths do not divide)";
constexpr const char* kBigscience = "bigscience-workshop/bigscience: experiments/gpt2-meg-ds-3d, train/tr8b-104B";
constexpr const char* kOpt = "Zhang et al., arXiv:2205.01068, as in Hugging Face transformers, models/opt";

/// One decoder-only transformer. `embedding` differs from `width` in one of them only.
struct GptDefinition {
  std::string_view name;
  std::int64_t layers, width, heads;
  std::int64_t words, positions, embedding = 0;
  bool post_norm = false;
};

constexpr std::int64_t kGptWords = 50257, kOptWords = 50272;
constexpr std::int64_t kOptPositions = 2050;  // 2048 and an offset of 2

constexpr std::array kDefinitions = {
    GptDefinition{"gpt2", 12, 768, 12, kGptWords, 1024},
    GptDefinition{"gpt2-medium", 24, 1024, 16, kGptWords, 1024},
    GptDefinition{"gpt2-large", 36, 1280, 20, kGptWords, 1024},
    GptDefinition{"gpt2-xl", 48, 1600, 25, kGptWords, 1024},
    GptDefinition{"gpt3-125m", 12, 768, 12, kGptWords, 2048},
    GptDefinition{"gpt3-350m", 24, 1024, 16, kGptWords, 2048},
    GptDefinition{"gpt3-760m", 24, 1536, 16, kGptWords, 2048},
    GptDefinition{"gpt3-1.3b", 24, 2048, 16, kGptWords, 2048},
    GptDefinition{"gpt3-2.7b", 32, 2560, 32, kGptWords, 2048},
    GptDefinition{"gpt3-6.7b", 32, 4096, 32, kGptWords, 2048},
    GptDefinition{"gpt3-13b", 40, 5120, 40, kGptWords, 2048},
    GptDefinition{"gpt3-175b", 96, 12288, 96, kGptWords, 2048},
    GptDefinition{"bigscience-52b", 64, 8192, 32, kGptWords, 1024},
    GptDefinition{"bigscience-104b", 64, 11600, 80, kGptWords, 2048},
    GptDefinition{"opt-125m", 12, 768, 12, kOptWords, kOptPositions},
    GptDefinition{"opt-350m", 24, 1024, 16, kOptWords, kOptPositions, 512, true},
    GptDefinition{"opt-1.3b", 24, 2048, 32, kOptWords, kOptPositions},
    GptDefinition{"opt-2.7b", 32, 2560, 32, kOptWords, kOptPositions},
    GptDefinition{"opt-6.7b", 32, 4096, 32, kOptWords, kOptPositions},
    GptDefinition{"opt-13b", 40, 5120, 40, kOptWords, kOptPositions},
    GptDefinition{"opt-30b", 48, 7168, 56, kOptWords, kOptPositions},
    GptDefinition{"opt-66b", 64, 9216, 72, kOptWords, kOptPositions},
    GptDefinition{"opt-175b", 96, 12288, 96, kOptWords, kOptPositions},
};

bool is_opt(const GptDefinition& d) { return d.words == kOptWords; }
bool is_gpt2(const GptDefinition& d) { return d.positions == 1024 && !d.name.starts_with("bigscience"); }

TransformerLayers layers_of(const GptDefinition& d) {
  TransformerLayers t;
  t.width = d.width;
  t.heads = d.heads;
  t.filter = 4 * d.width;
  t.pre_norm = !d.post_norm;
  t.fused_projection = !is_opt(d);
  t.activation = is_opt(d) ? ActivationKind::relu : ActivationKind::gelu;
  t.scale = is_opt(d) ? AttentionScale::query : AttentionScale::scores;
  t.attention_dropout = is_opt(d) ? 0.0 : 0.1;
  t.selecting_mask = is_gpt2(d);  // modeling_gpt2.py: torch.where
  return t;
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = token_builder(entry, options, "sequence");
  g.counts_in("token", static_cast<double>(sequence_length(entry, options)));
  TransformerNetwork n;
  n.layer = layers_of(*d);
  if (is_gpt2(*d) || is_opt(*d))
    calls_later(g, options, n.layer);
  else
    n.layer.fused_attention = options.fused_attention;
  n.decoder_layers = d->layers;
  n.words = d->words;
  n.positions = d->positions;
  n.embedding = d->embedding;
  n.embedding_dropout = is_opt(*d) ? 0.0 : n.layer.dropout;
  transformer_network(g, n);
  return std::move(g).finish();
}

}  // namespace

void append_gpt(std::vector<ZooEntry>& entries) {
  for (const GptDefinition& d : kDefinitions) {
    const bool bigscience = d.name.starts_with("bigscience");
    const bool second = is_gpt2(d);
    const char* source = bigscience ? kBigscience : second ? kGpt2 : is_opt(d) ? kOpt : kGpt3;
    const char* dataset = bigscience  ? "OSCAR"
                          : second    ? "WebText"
                          : is_opt(d) ? "RoBERTa corpus, the Pile, Reddit"
                                      : "Common Crawl, WebText2, books, Wikipedia";
    // Small sizes train with a few sequences on a board of 16 GB, large ones with one.
    const int batch = d.width <= 1024 ? 4 : 1;
    ZooEntry entry = sequence_entry(std::string(d.name), "pytorch", "language modelling", dataset,
                                    d.positions < 2048 ? 1024 : 2048, batch, source, build);
    entry.layers = std::to_string(d.layers);
    entry.dominant_layer = "attention";
    entries.push_back(std::move(entry));
  }
}

}  // namespace tbdsim
