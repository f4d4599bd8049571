#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/transformer_layers.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource =
    "Dai et al., arXiv:1901.02860, as in NVIDIA DeepLearningExamples, PyTorch/LanguageModeling/Transformer-XL";

/// WikiText-103 in four classes of words, most frequent first.
struct WordClass {
  std::int64_t words;
  double share;  ///< of running text; assumed: frequencies that fall as a power of the rank
};
constexpr std::array kClasses = {WordClass{19997, 0.93}, WordClass{20000, 0.03}, WordClass{160000, 0.035},
                                 WordClass{67738, 0.005}};

/// Both published sizes. `division` is how much narrower the embedding of each rarer class is. Without `adaptive` every token
/// is scored among all words and all embeddings are as wide as the layers: what train.py does when it is not told --adaptive.
struct TransformerXl {
  std::int64_t layers, width, heads, filter, division;
  bool adaptive;
};

std::int64_t vocabulary() {
  std::int64_t words = 0;
  for (const WordClass& c : kClasses) words += c.words;
  return words;
}

std::int64_t class_width(const TransformerXl& d, std::size_t index) {
  std::int64_t width = d.width;
  for (std::size_t i = 0; i < index; ++i) width /= d.division;
  return width;
}

std::int64_t class_tokens(std::int64_t steps, std::size_t index) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(steps) * kClasses[index].share));
}

TensorId embed(GraphBuilder& g, const TransformerXl& d, std::int64_t steps) {
  if (d.division == 1) return token_embedding(g, g.input(), vocabulary(), d.width, "embedding");
  std::vector<TensorId> parts;
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    const std::string name = fmt::format("embedding.{}", i);
    // The most frequent class takes the rest, so that the parts join to the whole sequence.
    std::int64_t tokens = class_tokens(steps, i);
    if (i == 0)
      tokens = std::max<std::int64_t>(1, steps - class_tokens(steps, 1) - class_tokens(steps, 2) - class_tokens(steps, 3));
    const TensorId picked = g.add(OpKind::gather, {g.input()}, GatherAttributes{tokens}, name + ".tokens");
    const TensorId table = token_embedding(g, picked, kClasses[i].words, class_width(d, i), name);
    parts.push_back(g.linear(table, d.width, name + ".project", false));
  }
  return g.add(OpKind::concat, parts, ConcatAttributes{0}, "embedding.join");
}

/// Adaptive softmax: every token is scored among the frequent words and the other classes, few within those.
void score(GraphBuilder& g, TensorId x, const TransformerXl& d, std::int64_t steps) {
  if (!d.adaptive) {
    g.softmax_loss(tied_linear(g, x, vocabulary(), "scores", true), "loss");
    return;
  }
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    const std::string name = fmt::format("scores.{}", i);
    TensorId y = i == 0 ? x : g.add(OpKind::gather, {x}, GatherAttributes{class_tokens(steps, i)}, name + ".tokens");
    // The head's projection is its own, the others are the embedding's.
    if (d.division > 1) y = g.add(OpKind::linear, {y}, LinearAttributes{class_width(d, i), false, i > 0}, name + ".project");
    TensorId scores = tied_linear(g, y, kClasses[i].words, name, true);
    if (i == 0) scores = g.concat({scores, g.linear(y, 3, "scores.classes")}, "scores.join");
    g.softmax_loss(scores, name + ".loss");
  }
}

/// Attention over this segment and the memory of the one before, with relative positions. All layers share the two
/// biases of the first.
TensorId relative_attention(GraphBuilder& g, TensorId x, const TransformerXl& d, std::int64_t steps, const std::string& p,
                            bool first) {
  const std::int64_t head = d.width / d.heads, reach = 2 * steps;
  const auto split = [&](TensorId t, const std::string& name) {
    return g.transpose(g.reshape(t, {g.shape(t).front(), d.heads, head}, name + "_heads"), {1, 0, 2}, name + "_permute");
  };
  const auto part = [&](TensorId t, std::int64_t index, const std::string& name) {
    return g.add(OpKind::slice, {t}, SliceAttributes{1, index * d.width, (index + 1) * d.width}, p + name);
  };
  const TensorId memory = g.another_input(Shape{steps, d.width}, p + "memory");
  const TensorId all =
      g.linear(g.add(OpKind::concat, {memory, x}, ConcatAttributes{0}, p + "join"), 3 * d.width, p + "qkv", false);
  const TensorId query = g.add(OpKind::slice, {part(all, 0, "query_all")}, SliceAttributes{0, steps, reach}, p + "query");
  const TensorId key = split(part(all, 1, "key"), p + "key"), value = split(part(all, 2, "value"), p + "value");
  // Positions are equal for all samples: one row of each stands for what a whole batch shares.
  const TensorId row = g.linear(g.another_input(Shape{1, d.width}, p + "position"), d.width, p + "position_net", false);
  const TensorId positions = split(g.add(OpKind::gather, {row}, GatherAttributes{reach}, p + "positions"), p + "positions");
  const auto biased = [&](const std::string& name) {
    return split(g.add(OpKind::learned_bias, {query}, LearnedBiasAttributes{0, !first}, name), name);
  };
  const TensorId content = g.add(OpKind::matmul, {biased(p + "word_bias"), key}, MatmulAttributes{true}, p + "content");
  TensorId place = g.add(OpKind::matmul, {biased(p + "position_bias"), positions}, MatmulAttributes{true}, p + "place");
  place = g.add(OpKind::pad, {place}, PadAttributes{0, 0, 1, 0}, p + "shift");
  place = g.add(OpKind::slice, {place}, SliceAttributes{2, 1, reach + 1}, p + "shifted");
  TensorId scores = g.add(OpKind::multiply, {g.plus(content, place, p + "scores")}, {}, p + "scale");
  scores = g.add(OpKind::mask, {scores}, MaskAttributes{true}, p + "mask");
  const TensorId context =
      g.add(OpKind::matmul, {g.add(OpKind::softmax, {scores}, {}, p + "softmax"), value}, MatmulAttributes{false}, p + "context");
  const TensorId merged = g.reshape(g.transpose(context, {1, 0, 2}, p + "permute"), {steps, d.width}, p + "merge");
  return g.linear(merged, d.width, p + "output", false);
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const bool large = entry.name == "transformer-xl-large", adaptive = entry.variant != "softmax";
  const TransformerXl d =
      large ? TransformerXl{18, 1024, 16, 4096, adaptive ? 4 : 1, adaptive} : TransformerXl{16, 512, 8, 2048, 1, adaptive};
  const double dropout = large ? 0.2 : 0.1;
  const std::int64_t steps = sequence_length(entry, options);
  GraphBuilder g = token_builder(entry, options, "sequence");
  g.counts_in("token", static_cast<double>(steps));
  TensorId x = g.dropout(g.add(OpKind::multiply, {embed(g, d, steps)}, {}, "embedding.scale"), dropout, "embedding.dropout");
  for (std::int64_t i = 0; i < d.layers; ++i) {
    const std::string p = fmt::format("layer.{}.", i);
    TensorId y = g.dropout(relative_attention(g, x, d, steps, p, i == 0), dropout, p + "dropout1");
    x = layer_norm(g, g.plus(x, y, p + "add1"), p + "norm1");
    y = g.dropout(g.relu(g.linear(x, d.filter, p + "linear1"), p + "relu"), dropout, p + "dropout2");
    y = g.dropout(g.linear(y, d.width, p + "linear2"), dropout, p + "dropout3");
    x = layer_norm(g, g.plus(x, y, p + "add2"), p + "norm2");
  }
  score(g, g.dropout(x, dropout, "dropout"), d, steps);
  return std::move(g).finish();
}

}  // namespace

void append_transformer_xl(std::vector<ZooEntry>& entries) {
  for (const char* variant : {"pytorch", "softmax"}) {
    for (const bool large : {false, true}) {
      ZooEntry entry = sequence_entry(large ? "transformer-xl-large" : "transformer-xl-base", variant, "language modelling",
                                      "WikiText-103", large ? 384 : 192, large ? 8 : 32, kSource, build);
      entry.layers = large ? "18" : "16";
      entry.dominant_layer = "attention";
      entries.push_back(std::move(entry));
    }
  }
}

}  // namespace tbdsim
