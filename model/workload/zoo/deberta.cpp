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
    "Hugging Face transformers v4.26, models/deberta and models/deberta_v2, whose default configurations have no relative "
    "attention (He et al., arXiv:2006.03654)";

struct DebertaDefinition {
  std::string_view name;
  std::int64_t layers, width, heads, filter, words;
  bool fused;  ///< DeBERTa's first version: one product, with biases for queries and values alone
  bool answers;
  int batch;
};
constexpr std::array kDefinitions = {
    DebertaDefinition{"DebertaForMaskedLM", 12, 768, 12, 3072, 50265, true, false, 4},
    DebertaDefinition{"DebertaForQuestionAnswering", 12, 768, 12, 3072, 50265, true, true, 8},
    DebertaDefinition{"DebertaV2ForMaskedLM", 24, 1536, 24, 6144, 128100, false, false, 1},
    DebertaDefinition{"DebertaV2ForQuestionAnswering", 24, 1536, 24, 6144, 128100, false, true, 2},
};
constexpr std::int64_t kPositions = 512;
constexpr double kDropout = 0.1;

/// A constant pass: a masked fill, part of a mask's making. Backward knows nothing of it.
TensorId pass(GraphBuilder& g, TensorId x, const std::string& name) { return g.add(OpKind::mask, {x}, {}, name); }

/// Out of place, a masked fill is a copy and a kernel that fills in it.
TensorId masked_fill(GraphBuilder& g, TensorId x, const std::string& p) { return pass(g, pass(g, x, p + ".copy"), p + ".fill"); }

/// StableDropout, a function with a backward of its own: its mask is drawn, subtracted from 1 and turned into bytes; the input is
/// copied, filled where the mask is set, and scaled. Backward copies, fills and scales again.
TensorId stable_dropout(GraphBuilder& g, TensorId x, const std::string& p) {
  for (const char* part : {".random", ".complement", ".mask"}) x = pass(g, x, p + part);
  x = g.add(OpKind::mask, {x}, MaskAttributes{true}, p + ".copy");
  return g.add(OpKind::multiply, {g.dropout(x, kDropout, p)}, {}, p + ".scale");
}

TensorId heads_of(GraphBuilder& g, TensorId x, const DebertaDefinition& d, const std::string& name) {
  const TensorId parts = g.reshape(x, {g.shape(x).front(), d.heads, d.width / d.heads}, name + "_heads");
  return g.transpose(parts, {1, 0, 2}, name + "_permute");
}

std::array<TensorId, 3> project(GraphBuilder& g, TensorId x, const DebertaDefinition& d, const std::string& p) {
  if (!d.fused) return {g.linear(x, d.width, p + "query"), g.linear(x, d.width, p + "key"), g.linear(x, d.width, p + "value")};
  const TensorId all = g.linear(x, 3 * d.width, p + "in_proj", false);
  const auto part = [&](std::int64_t i, const char* name, bool bias) {
    const TensorId y = g.add(OpKind::slice, {all}, SliceAttributes{1, i * d.width, (i + 1) * d.width}, p + name);
    return bias ? g.add(OpKind::learned_bias, {y}, LearnedBiasAttributes{}, p + name + "_bias") : y;
  };
  return {part(0, "query", true), part(1, "key", false), part(2, "value", true)};
}

TensorId layer(GraphBuilder& g, TensorId x, const DebertaDefinition& d, const std::string& p) {
  const std::array<TensorId, 3> projected = project(g, x, d, p);
  const TensorId query = heads_of(g, projected[0], d, p + "query"), key = heads_of(g, projected[1], d, p + "key"),
                 value = heads_of(g, projected[2], d, p + "value");
  TensorId scores = g.add(OpKind::matmul, {query, key}, MatmulAttributes{true}, p + "scores");
  scores = g.add(OpKind::multiply, {scores}, MultiplyAttributes{true}, p + "scores_scale");
  // XSoftmax fills what is masked before, in a copy, and after, in place; its backward knows of neither.
  scores = g.add(OpKind::softmax, {masked_fill(g, scores, p + "masked")}, {}, p + "softmax");
  const TensorId shares = stable_dropout(g, pass(g, scores, p + "fill_again"), p + "attention_dropout");
  TensorId context = g.add(OpKind::matmul, {shares, value}, MatmulAttributes{false}, p + "context");
  context = g.reshape(g.transpose(context, {1, 0, 2}, p + "context_permute"), {g.shape(x).front(), d.width}, p + "context_merge");
  TensorId y = stable_dropout(g, g.linear(context, d.width, p + "output"), p + "dropout");
  x = layer_norm(g, g.plus(y, x, p + "add"), p + "norm");
  y = g.activation(g.linear(x, d.filter, p + "intermediate"), ActivationKind::gelu, p + "gelu");
  y = stable_dropout(g, g.linear(y, d.width, p + "feed_forward"), p + "feed_forward_dropout");
  return layer_norm(g, g.plus(y, x, p + "feed_forward_add"), p + "feed_forward_norm");
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = token_builder(entry, options, "sequence");
  g.counts_in("token", static_cast<double>(sequence_length(entry, options)));
  TensorId x = token_embedding(g, g.input(), d->words, d->width, "embeddings.word");
  x = layer_norm(g, g.add(OpKind::learned_bias, {x}, LearnedBiasAttributes{kPositions}, "embeddings.position"),
                 "embeddings.norm");
  x = stable_dropout(g, g.add(OpKind::multiply, {x}, {}, "embeddings.mask"), "embeddings.dropout");
  for (std::int64_t i = 0; i < d->layers; ++i) x = layer(g, x, *d, fmt::format("layer.{}.", i));
  if (d->answers) {
    g.softmax_loss(g.transpose(g.linear(x, 2, "qa_outputs"), {1, 0}, "ends"), "loss");
  } else {
    x = layer_norm(g, g.activation(g.linear(x, d->width, "transform"), ActivationKind::gelu, "transform.gelu"), "transform.norm");
    g.softmax_loss(tied_linear(g, x, d->words, "scores", true), "loss");
  }
  return std::move(g).finish();
}

}  // namespace

void append_deberta(std::vector<ZooEntry>& entries) {
  for (const DebertaDefinition& d : kDefinitions) {
    entries.push_back(sequence_entry(std::string(d.name), "hf", d.answers ? "question answering" : "language modelling",
                                     "synthetic", 512, d.batch, kSource, build));
    entries.back().layers = std::to_string(d.layers);
    entries.back().dominant_layer = "attention";
  }
}

}  // namespace tbdsim
