#include <fmt/format.h>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/transformer_layers.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource =
    "Hugging Face transformers v4.26, models/xlnet (Yang et al., arXiv:1906.08237), default configuration";
constexpr std::int64_t kLayers = 24, kWidth = 1024, kHeads = 16, kHead = kWidth / kHeads, kFilter = 4096, kWords = 32000;
constexpr double kDropout = 0.1;

/// Rows x width to heads x rows x head width, a copy as einsum makes it for a batched product.
TensorId heads_of(GraphBuilder& g, TensorId x, const std::string& name) {
  return g.transpose(g.reshape(x, {g.shape(x).front(), kHeads, kHead}, name + "_heads"), {1, 0, 2}, name + "_permute");
}

/// Scores by content and by distance. Distances reach twice as far as the words; a shift aligns them.
TensorId attention(GraphBuilder& g, TensorId x, TensorId distances, const std::string& p) {
  const std::int64_t steps = g.shape(x).front();
  const auto product = [&](TensorId y, const char* name) { return g.linear(y, kWidth, p + name, false); };
  const TensorId query = product(x, "q"), key = heads_of(g, product(x, "k"), p + "k"),
                 value = heads_of(g, product(x, "v"), p + "v");
  const TensorId positions = heads_of(g, product(distances, "r"), p + "r");
  const auto biased = [&](const std::string& name) {
    return heads_of(g, g.add(OpKind::learned_bias, {query}, LearnedBiasAttributes{}, name), name);
  };
  const TensorId content = g.add(OpKind::matmul, {biased(p + "r_w_bias"), key}, MatmulAttributes{true}, p + "content");
  TensorId place = g.add(OpKind::matmul, {biased(p + "r_r_bias"), positions}, MatmulAttributes{true}, p + "place");
  place = g.transpose(place, {0, 1, 2}, p + "shift");
  place = g.transpose(g.add(OpKind::slice, {place}, SliceAttributes{2, 0, steps}, p + "shifted"), {0, 1, 2}, p + "select");
  // A sum with the score of segments, here the constant 0, is a pass too.
  TensorId scores = g.add(OpKind::mask, {g.plus(content, place, p + "sum")}, {}, p + "segments");
  scores = g.add(OpKind::multiply, {scores}, {}, p + "scale");
  const TensorId shares = g.dropout(g.add(OpKind::softmax, {scores}, {}, p + "softmax"), kDropout, p + "softmax_dropout");
  const TensorId context = g.add(OpKind::matmul, {shares, value}, MatmulAttributes{false}, p + "context");
  const TensorId merged = g.reshape(g.transpose(context, {1, 0, 2}, p + "context_permute"), {steps, kWidth}, p + "context_merge");
  const TensorId y = g.dropout(g.linear(merged, kWidth, p + "o", false), kDropout, p + "dropout");
  return layer_norm(g, g.plus(y, x, p + "add"), p + "norm");
}

/// Neither segments nor masked targets are given, so their arrays do not learn and are left out.
Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const std::int64_t steps = sequence_length(entry, options);
  GraphBuilder g = token_builder(entry, options, "sequence");
  g.counts_in("token", static_cast<double>(steps));
  TensorId x = g.dropout(token_embedding(g, g.input(), kWords, kWidth, "word_embedding"), kDropout, "embedding_dropout");
  const TensorId distances = g.another_input(Shape{2 * steps, kWidth}, "distances");
  for (std::int64_t i = 0; i < kLayers; ++i) {
    const std::string p = fmt::format("layer.{}.", i);
    x = attention(g, x, distances, p + "attention.");
    TensorId y = g.activation(g.linear(x, kFilter, p + "linear1"), ActivationKind::gelu, p + "gelu");
    y = g.linear(g.dropout(y, kDropout, p + "dropout1"), kWidth, p + "linear2");
    x = layer_norm(g, g.plus(g.dropout(y, kDropout, p + "dropout2"), x, p + "add"), p + "norm");
  }
  g.softmax_loss(tied_linear(g, g.dropout(x, kDropout, "dropout"), kWords, "lm_loss", true), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_xlnet(std::vector<ZooEntry>& entries) {
  entries.push_back(sequence_entry("XLNetLMHeadModel", "hf", "language modelling", "synthetic", 512, 8, kSource, build));
  entries.back().layers = std::to_string(kLayers);
  entries.back().dominant_layer = "attention";
}

}  // namespace tbdsim
