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
    "Devlin et al., arXiv:1810.04805; heads as in NVIDIA DeepLearningExamples, PyTorch/LanguageModeling/BERT";
constexpr std::int64_t kWords = 30522, kPositions = 512, kSegments = 2;

struct BertDefinition {
  std::string_view name;
  std::int64_t layers, width, heads;
  bool answers_questions;  ///< fine-tuned on SQuAD rather than pre-trained
  int seq_len, batch;
};
constexpr std::array kDefinitions = {
    BertDefinition{"bert-base", 12, 768, 12, false, 128, 32},
    BertDefinition{"bert-large", 24, 1024, 16, false, 128, 16},
    BertDefinition{"bert-base-squad", 12, 768, 12, true, 384, 8},
    BertDefinition{"bert-large-squad", 24, 1024, 16, true, 384, 4},
};

/// Scripts that score every word fill the vocabulary up to a multiple of eight, for tensor cores (run_pretraining.py).
std::int64_t vocabulary(bool every_word) { return every_word ? (kWords + 7) / 8 * 8 : kWords; }

TensorId embeddings(GraphBuilder& g, const BertDefinition& d, std::int64_t steps, std::int64_t vocabulary) {
  const TensorId words = token_embedding(g, g.input(), vocabulary, d.width, "embeddings.word");
  const TensorId segment = g.another_input(Shape{steps}, "segments");
  const TensorId segments = token_embedding(g, segment, kSegments, d.width, "embeddings.segment");
  TensorId x = g.plus(words, segments, "embeddings.add");
  x = g.add(OpKind::learned_bias, {x}, LearnedBiasAttributes{kPositions}, "embeddings.position");
  return g.dropout(layer_norm(g, x, "embeddings.norm"), 0.1, "embeddings.dropout");
}

/// Guesses the masked words among all words, and whether the second sentence follows the first.
void pretraining_heads(GraphBuilder& g, TensorId x, const BertDefinition& d, std::int64_t steps, bool every_word) {
  const TensorId first = g.add(OpKind::gather, {x}, GatherAttributes{1}, "pooler.first");
  const TensorId pooled = g.activation(g.linear(first, d.width, "pooler.linear"), ActivationKind::tanh, "pooler.tanh");
  g.softmax_loss(g.linear(pooled, 2, "next_sentence"), "next_sentence.loss");
  // 20 of 128 and 80 of 512 words are guessed in the published runs; only these reach the head, unless its scores are made
  // for every word and the loss leaves out the others.
  const std::int64_t guessed = std::max<std::int64_t>(1, steps * 20 / 128);
  TensorId y = every_word ? x : g.add(OpKind::gather, {x}, GatherAttributes{guessed}, "masked_words.gather");
  y = g.activation(g.linear(y, d.width, "masked_words.transform"), ActivationKind::gelu, "masked_words.gelu");
  y = layer_norm(g, y, "masked_words.norm");
  g.softmax_loss(tied_linear(g, y, vocabulary(every_word), "masked_words.scores", true), "masked_words.loss");
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  const std::int64_t steps = sequence_length(entry, options);
  GraphBuilder g = token_builder(entry, options, "sequence");
  g.counts_in("token", static_cast<double>(steps));
  TransformerLayers t;
  t.width = d->width;
  t.heads = d->heads;
  t.filter = 4 * d->width;
  t.strided_heads = entry.variant == "strided-heads";
  calls_later(g, options, t);
  const bool every_word = entry.variant == "every-word";
  TensorId x = embeddings(g, *d, steps, vocabulary(every_word));
  for (std::int64_t i = 0; i < d->layers; ++i)
    x = transformer_layer(g, x, t, AttentionMask::padding, fmt::format("layer.{}.", i));
  if (d->answers_questions) {
    g.softmax_loss(g.transpose(g.linear(x, 2, "answer"), {1, 0}, "answer.ends"), "answer.loss");
  } else {
    pretraining_heads(g, x, *d, steps, every_word);
  }
  return std::move(g).finish();
}

}  // namespace

void append_bert(std::vector<ZooEntry>& entries) {
  for (const BertDefinition& d : kDefinitions) {
    for (const char* variant : {"pytorch", "every-word", "strided-heads"}) {
      if (d.answers_questions && std::string_view(variant) == "every-word") continue;
      ZooEntry entry =
          sequence_entry(std::string(d.name), variant, d.answers_questions ? "question answering" : "language modelling",
                         d.answers_questions ? "SQuAD 1.1" : "Wikipedia, BookCorpus", d.seq_len, d.batch, kSource, build);
      entry.layers = std::to_string(d.layers);
      entry.dominant_layer = "attention";
      entries.push_back(std::move(entry));
    }
  }
}

}  // namespace tbdsim
