#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/transformer_layers.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource = "Hugging Face transformers v4.26, models/t5 and models/mt5 (Raffel et al., arXiv:1910.10683)";
constexpr std::int64_t kBuckets = 32;  // of distances between words

struct T5Definition {
  std::string_view name;
  std::int64_t layers, width, heads, head_width, filter, words;
  bool gated;  ///< T5 1.1 and MT5: a gated feed-forward block, scores by a table of their own
  int seq_len, batch;
};
constexpr std::array kDefinitions = {
    T5Definition{"T5ForConditionalGeneration", 6, 512, 8, 64, 2048, 32128, false, 1024, 4},
    T5Definition{"T5Small", 6, 512, 8, 64, 2048, 32128, false, 1024, 4},
    T5Definition{"MT5ForConditionalGeneration", 8, 512, 6, 64, 1024, 250112, true, 128, 16},
    T5Definition{"hf_T5", 6, 512, 8, 64, 2048, 32128, false, 1024, 8},
    T5Definition{"hf_T5_base", 12, 768, 12, 64, 3072, 32128, false, 1024, 1},
    T5Definition{"hf_T5_large", 24, 1024, 16, 64, 4096, 32128, false, 512, 1},
    T5Definition{"t5-small", 6, 512, 8, 64, 2048, 32128, false, 512, 8},
    T5Definition{"t5-base", 12, 768, 12, 64, 3072, 32128, false, 512, 4},
    T5Definition{"t5-large", 24, 1024, 16, 64, 4096, 32128, false, 512, 1},
};
constexpr double kDropout = 0.1;

/// The mean of squares, its root and the scale, an operator each, as the eager code runs them.
TensorId norm(GraphBuilder& g, TensorId x, const std::string& name) {
  const std::int64_t rows = g.shape(x).front(), width = g.shape(x).back();
  const TensorId square = g.activation(x, ActivationKind::power, name + ".pow");
  const TensorId mean = g.add(OpKind::reduce, {square}, ReduceAttributes{1}, name + ".mean");
  const TensorId root = g.reshape(mean, {rows, 1, 1}, name + ".rsqrt");
  const TensorId scaled = g.add(OpKind::multiply, {g.reshape(x, {rows, width, 1}, name + ".rows"), root}, {}, name + ".multiply");
  return g.add(OpKind::learned_scale, {g.reshape(scaled, {rows, width}, name + ".view")}, {}, name);
}

/// No bias, no scale. `position`: what is added to the scores of a stack's layers, null where words of another stack are seen.
TensorId attention(GraphBuilder& g, TensorId x, TensorId memory, const T5Definition& d, const TensorId* position,
                   const std::string& p) {
  const std::int64_t inner = d.heads * d.head_width;
  const auto heads = [&](TensorId y, const char* name) {
    const std::string q = p + name;
    const TensorId parts = g.reshape(g.linear(y, inner, q, false), {g.shape(y).front(), d.heads, d.head_width}, q + "_heads");
    return g.transpose(parts, {1, 0, 2}, q + "_permute");
  };
  const TensorId query = heads(x, "q"), key = heads(memory, "k"), value = heads(memory, "v");
  TensorId scores = g.add(OpKind::matmul, {query, key}, MatmulAttributes{true}, p + "scores");
  scores = position != nullptr ? g.plus(scores, *position, p + "position") : g.add(OpKind::mask, {scores}, {}, p + "mask");
  TensorId shares = drop(g, g.add(OpKind::softmax, {scores}, {}, p + "softmax"), kDropout, p + "softmax_dropout");
  TensorId context = g.add(OpKind::matmul, {shares, value}, MatmulAttributes{false}, p + "context");
  context = g.reshape(g.transpose(context, {1, 0, 2}, p + "context_permute"), {g.shape(x).front(), inner}, p + "context_merge");
  return g.linear(context, d.width, p + "o", false);
}

TensorId feed_forward(GraphBuilder& g, TensorId x, const T5Definition& d, const std::string& p) {
  if (d.gated) {
    const TensorId open = g.activation(g.linear(x, d.filter, p + "wi_0", false), ActivationKind::gelu, p + "act");
    x = g.add(OpKind::multiply, {open, g.linear(x, d.filter, p + "wi_1", false)}, {}, p + "gated");
  } else {
    x = g.relu(g.linear(x, d.filter, p + "wi", false), p + "act");
  }
  return g.linear(drop(g, x, kDropout, p + "dropout"), d.width, p + "wo", false);
}

/// `memory`: of the encoder, for a decoder.
TensorId stack(GraphBuilder& g, TensorId tokens, const T5Definition& d, const TensorId* memory, const std::string& p) {
  TensorId x = drop(g, token_embedding(g, tokens, d.words, d.width, p + "words", memory != nullptr), kDropout, p + "dropout");
  // Made once for all layers: a number for each head and distance, and the mask.
  const std::int64_t steps = g.shape(x).front();
  const TensorId position = g.add(OpKind::learned_bias, {g.another_input(Shape{d.heads, steps, steps}, p + "mask")},
                                  LearnedBiasAttributes{kBuckets, false, d.heads}, p + "position");
  for (std::int64_t i = 0; i < d.layers; ++i) {
    const std::string q = fmt::format("{}block.{}.", p, i);
    const auto add = [&](TensorId y, const char* name) {
      x = g.plus(x, drop(g, y, kDropout, q + name + "_dropout"), q + name + "_add");
    };
    TensorId y = norm(g, x, q + "norm1");
    add(attention(g, y, y, d, &position, q + "self."), "self");
    if (memory != nullptr) {
      y = norm(g, x, q + "norm_cross");
      add(attention(g, y, *memory, d, nullptr, q + "cross."), "cross");
    }
    add(feed_forward(g, norm(g, x, q + "norm2"), d, q + "ff."), "ff");
  }
  return drop(g, norm(g, x, p + "final_norm"), kDropout, p + "final_dropout");
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = token_builder(entry, options, "sequence");
  g.counts_in("token", static_cast<double>(sequence_length(entry, options)));
  const TensorId memory = stack(g, g.input(), *d, nullptr, "encoder.");
  TensorId x = stack(g, g.another_input(g.shape(g.input()), "target"), *d, &memory, "decoder.");
  if (d->gated) {
    x = g.linear(x, d->words, "lm_head", false);
  } else {
    x = tied_linear(g, g.add(OpKind::multiply, {x}, {}, "lm_scale"), d->words, "lm_head");
  }
  g.softmax_loss(x, "loss");
  return std::move(g).finish();
}

}  // namespace

void append_t5(std::vector<ZooEntry>& entries) {
  for (const T5Definition& d : kDefinitions) {
    entries.push_back(sequence_entry(std::string(d.name), "hf", "text generation", "C4", d.seq_len, d.batch, kSource, build));
    entries.back().layers = fmt::format("{}+{}", d.layers, d.layers);
    entries.back().dominant_layer = "attention";
  }
}

}  // namespace tbdsim
