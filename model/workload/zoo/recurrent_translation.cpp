#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/transformer_layers.hpp"

namespace tbdsim {
namespace {

constexpr const char* kGnmt = "Wu et al., arXiv:1609.08144, as in NVIDIA DeepLearningExamples, PyTorch/Translation/GNMT";
constexpr const char* kNmt = "tensorflow/nmt, standard_hparams/iwslt15.json, trained with Adam as in tbd-ai/tbd-suite";
constexpr const char* kSockeye = "awslabs/sockeye 1.5 as in tbd-ai/tbd-suite, sockeye_1.5-iwslt15_en-vi.sh";
constexpr const char* kReference = "PyTorch 1.13 nn.LSTM encoder and decoder with dot attention between them";

TensorId lstm(GraphBuilder& g, TensorId x, std::int64_t hidden, const std::string& name, bool state_given = false,
              bool bidirectional = false, std::int64_t layers = 1) {
  return g.add(OpKind::lstm, {x}, RecurrentAttributes{hidden, layers, bidirectional, true, state_given}, name);
}

/// Scores of a small network over every pair of a query and a key, softmax over the keys, mean of the values
/// (Bahdanau et al., arXiv:1409.0473). Queries and keys have `width` features.
TensorId additive_attention(GraphBuilder& g, TensorId query, TensorId key, TensorId value, bool normalised,
                            const std::string& p) {
  const std::int64_t width = g.shape(query).back(), queries = g.shape(query).front(), keys = g.shape(key).front();
  TensorId pairs = g.add(OpKind::pairwise_add, {query, key}, {}, p + "pairs");
  pairs = g.reshape(pairs, {queries * keys, width}, p + "flat");
  if (normalised) pairs = g.add(OpKind::learned_bias, {pairs}, LearnedBiasAttributes{}, p + "bias");
  TensorId scores = g.linear(g.activation(pairs, ActivationKind::tanh, p + "tanh"), 1, p + "score", false);
  if (normalised) scores = g.linear(scores, 1, p + "norm", false);  // the one learned scale of its weight norm
  scores = g.add(OpKind::mask, {g.reshape(scores, {queries, keys}, p + "scores")}, {}, p + "mask");
  return g.add(OpKind::matmul, {g.add(OpKind::softmax, {scores}, {}, p + "softmax"), value}, MatmulAttributes{false},
               p + "context");
}

Result<OpGraph> build_gnmt(const ZooEntry& entry, const ZooOptions& options) {
  constexpr std::int64_t kWords = 32320, kHidden = 1024;
  constexpr double kDropout = 0.2;
  const std::int64_t steps = sequence_length(entry, options);
  GraphBuilder g = token_builder(entry, options, "sentence");
  g.counts_in("source and target token", 2.0 * static_cast<double>(steps));
  const auto wet = [&](TensorId x, const std::string& name) { return g.dropout(x, kDropout, name); };
  TensorId x = token_embedding(g, g.input(), kWords, kHidden, "embedding");
  x = lstm(g, wet(x, "encoder.0.dropout"), kHidden, "encoder.0", false, true);
  x = lstm(g, wet(x, "encoder.1.dropout"), kHidden, "encoder.1");
  for (int i = 2; i < 4; ++i) {
    const std::string p = fmt::format("encoder.{}", i);
    x = g.plus(lstm(g, wet(x, p + ".dropout"), kHidden, p), x, p + ".add");
  }
  const TensorId memory = x;
  TensorId y = token_embedding(g, g.another_input(Shape{steps}, "target"), kWords, kHidden, "decoder.embedding", true);
  y = lstm(g, wet(y, "decoder.0.dropout"), kHidden, "decoder.0", true);
  const TensorId query = g.linear(y, kHidden, "attention.query", false), key = g.linear(memory, kHidden, "attention.key", false);
  const TensorId context = additive_attention(g, query, key, memory, true, "attention.");
  for (int i = 1; i < 4; ++i) {
    const std::string p = fmt::format("decoder.{}", i);
    const TensorId next = lstm(g, wet(g.concat({y, context}, p + ".concat"), p + ".dropout"), kHidden, p, true);
    y = i == 1 ? next : g.plus(next, y, p + ".add");
  }
  g.softmax_loss(g.linear(y, kWords, "classifier"), "loss");
  return std::move(g).finish();
}

/// The attention of a step is the input of the next (input feeding): here a second input of the network as long.
Result<OpGraph> build_nmt(const ZooEntry& entry, const ZooOptions& options) {
  constexpr std::int64_t kSource = 17191, kTarget = 7709, kHidden = 512;
  const std::int64_t steps = sequence_length(entry, options);
  GraphBuilder g = token_builder(entry, options, "sentence");
  g.counts_in("source and target token", 2.0 * static_cast<double>(steps));
  const TensorId source = token_embedding(g, g.input(), kSource, kHidden, "encoder/embedding");
  const TensorId memory = lstm(g, g.dropout(source, 0.2, "encoder/dropout"), kHidden, "encoder/rnn", false, true);
  TensorId y = token_embedding(g, g.another_input(Shape{steps}, "target"), kTarget, kHidden, "decoder/embedding");
  y = g.concat({y, g.another_input(Shape{steps, kHidden}, "feed")}, "decoder/concat");
  for (int i = 0; i < 2; ++i) {
    const std::string p = fmt::format("decoder/rnn{}", i);
    y = lstm(g, g.dropout(y, 0.2, p + "/dropout"), kHidden, p, true);
  }
  const TensorId keys = g.linear(memory, kHidden, "memory_layer", false);
  TensorId scores = g.add(OpKind::matmul, {y, keys}, MatmulAttributes{true}, "attention/scores");
  scores = g.add(OpKind::mask, {g.add(OpKind::multiply, {scores}, {}, "attention/scale")}, {}, "attention/mask");
  const TensorId shares = g.add(OpKind::softmax, {scores}, {}, "attention/softmax");
  const TensorId context = g.add(OpKind::matmul, {shares, memory}, MatmulAttributes{false}, "attention/context");
  y = g.activation(g.linear(g.concat({context, y}, "attention/concat"), kHidden, "attention_layer", false), ActivationKind::tanh,
                   "attention/tanh");
  g.softmax_loss(g.linear(y, kTarget, "output", false), "loss");
  return std::move(g).finish();
}

/// Sockeye's network with more or fewer layers on each side, or other widths of cells and attention.
struct SockeyeDefinition {
  std::string_view name;
  std::int64_t layers, hidden;
};
constexpr std::array kSockeyes = {
    SockeyeDefinition{"sockeye", 2, 512},         SockeyeDefinition{"sockeye-1-layer", 1, 512},
    SockeyeDefinition{"sockeye-3-layer", 3, 512}, SockeyeDefinition{"sockeye-4-layer", 4, 512},
    SockeyeDefinition{"sockeye-5-layer", 5, 512}, SockeyeDefinition{"sockeye-h256", 2, 256},
    SockeyeDefinition{"sockeye-h1024", 2, 1024},
};

/// One step of Sockeye's decoder beyond its cells: attention over the source, then the merge with the context. Later
/// steps use the arrays of the first.
TensorId sockeye_step(GraphBuilder& g, TensorId states, TensorId memory, TensorId keys, int step, const std::string& p) {
  const std::int64_t hidden = g.shape(keys).back();
  g.set_weights(step > 0 ? GraphBuilder::Weights::shared : GraphBuilder::Weights::own);
  const TensorId state = g.add(OpKind::gather, {states}, GatherAttributes{1}, p + "state");
  const TensorId query = g.linear(state, hidden, p + "query", false);
  const std::int64_t length = g.shape(keys).front();
  TensorId pairs = g.reshape(g.add(OpKind::pairwise_add, {query, keys}, {}, p + "pairs"), {length, hidden}, p + "flat");
  TensorId scores = g.linear(g.activation(pairs, ActivationKind::tanh, p + "tanh"), 1, p + "score", false);
  scores = g.add(OpKind::mask, {g.reshape(scores, {1, length}, p + "scores")}, {}, p + "mask");
  const TensorId shares = g.add(OpKind::softmax, {scores}, {}, p + "softmax");
  const TensorId context = g.add(OpKind::matmul, {shares, memory}, MatmulAttributes{false}, p + "context");
  const TensorId merged = g.linear(g.concat({state, context}, p + "concat"), hidden, p + "merge");
  g.set_weights(GraphBuilder::Weights::own);
  return g.activation(merged, ActivationKind::tanh, p + "hidden");
}

Result<OpGraph> build_sockeye(const ZooEntry& entry, const ZooOptions& options) {
  constexpr std::int64_t kSource = 17192, kTarget = 7710, kEmbedding = 512;
  const auto* d = std::find_if(kSockeyes.begin(), kSockeyes.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kSockeyes.end());
  const std::int64_t hidden = d->hidden;
  const std::int64_t steps = sequence_length(entry, options);
  constexpr std::int64_t kMostSteps = 4096;  // each a dozen operators of the graph
  if (steps > kMostSteps)
    return fail(fmt::format("--seq-len {}: the decoder of {} is unrolled word by word; at most {} words are modelled", steps,
                            entry.name, kMostSteps));
  // Vietnamese targets of IWSLT15 are shorter than their English sources: 20 to 25 words on average. The longest bucket is
  // as long on both sides.
  constexpr std::int64_t kLongest = 100;
  const std::int64_t target_steps = steps >= kLongest ? steps : std::max<std::int64_t>(1, steps * 26 / 30);
  GraphBuilder g = token_builder(entry, options, "sentence");
  g.counts_in("source and target token", static_cast<double>(steps + target_steps));
  TensorId x = token_embedding(g, g.input(), kSource, kEmbedding, "source_embed");
  const auto turn = [&](TensorId y, const std::string& name) { return g.add(OpKind::sequence_reverse, {y}, {}, name); };
  const TensorId ahead = lstm(g, x, hidden / 2, "encoder_birnn_forward");
  const TensorId back = lstm(g, turn(x, "encoder_reverse"), hidden / 2, "encoder_birnn_backward");
  x = g.concat({ahead, turn(back, "encoder_reverse_back")}, "encoder_birnn");
  for (std::int64_t i = 1; i < d->layers; ++i) x = lstm(g, x, hidden, i == 1 ? "encoder_rnn" : fmt::format("encoder_rnn{}", i));
  const TensorId memory = x;
  const TensorId keys = g.linear(memory, hidden, "attention_keys", false);
  // Both states of every decoder layer start from the encoder's last state.
  const TensorId last = g.add(OpKind::gather, {memory}, GatherAttributes{1}, "encoder_last");
  std::vector<TensorId> starts;
  for (std::int64_t i = 0; i < 2 * d->layers; ++i) {
    const std::string name = fmt::format("decoder_init{}", i);
    starts.push_back(g.activation(g.linear(last, hidden, name), ActivationKind::tanh, name + "_tanh"));
  }
  TensorId y = token_embedding(g, g.another_input(Shape{target_steps}, "target"), kTarget, kEmbedding, "target_embed");
  const TensorId start = g.add(OpKind::concat, starts, ConcatAttributes{0}, "decoder_init");
  y = g.concat({y, g.add(OpKind::gather, {start}, GatherAttributes{target_steps}, "decoder_feed")}, "decoder_concat");
  for (std::int64_t i = 0; i < d->layers; ++i) y = lstm(g, y, hidden, fmt::format("decoder_rnn{}", i), true);
  std::vector<TensorId> outputs;
  outputs.reserve(static_cast<std::size_t>(target_steps));
  for (int t = 0; t < target_steps; ++t) outputs.push_back(sockeye_step(g, y, memory, keys, t, fmt::format("decoder_t{}_", t)));
  const TensorId all =
      outputs.size() == 1 ? outputs.front() : g.add(OpKind::concat, outputs, ConcatAttributes{0}, "decoder_hidden");
  g.softmax_loss(g.linear(all, kTarget, "output"), "softmax");
  return std::move(g).finish();
}

/// Encoder and decoder of four LSTM layers with dot attention: a small network to compare counts with PyTorch's own.
Result<OpGraph> build_reference(const ZooEntry& entry, const ZooOptions& options) {
  constexpr std::int64_t kWords = 32000, kHidden = 1024, kLayers = 4;
  const std::int64_t steps = sequence_length(entry, options);
  GraphBuilder g = token_builder(entry, options, "sequence");
  g.counts_in("source and target token", 2.0 * static_cast<double>(steps));
  const TensorId target = g.another_input(Shape{steps}, "tgt");
  const TensorId memory = lstm(g, token_embedding(g, g.input(), kWords, kHidden, "es"), kHidden, "enc", false, false, kLayers);
  const TensorId y = lstm(g, token_embedding(g, target, kWords, kHidden, "ed"), kHidden, "dec", true, false, kLayers);
  const TensorId scores = g.add(OpKind::matmul, {y, memory}, MatmulAttributes{true}, "scores");
  const TensorId shares = g.add(OpKind::softmax, {scores}, {}, "softmax");
  const TensorId context = g.add(OpKind::matmul, {shares, memory}, MatmulAttributes{false}, "context");
  const TensorId merged = g.activation(g.linear(g.concat({context, y}, "concat"), kHidden, "c"), ActivationKind::tanh, "tanh");
  g.softmax_loss(g.linear(merged, kWords, "out"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_recurrent_translation(std::vector<ZooEntry>& entries) {
  const auto add = [&](ZooEntry entry, std::string layers) {
    entry.layers = std::move(layers);
    entry.dominant_layer = "lstm";
    entries.push_back(std::move(entry));
  };
  constexpr const char* kTranslation = "machine translation";
  // Lengths after padding: 26 words a sentence on average in batches sorted by length.
  add(sequence_entry("gnmt", "pytorch", kTranslation, "WMT16 English-German", 32, 128, kGnmt, build_gnmt), "8");
  add(sequence_entry("nmt", "tf", kTranslation, "IWSLT15 English-Vietnamese", 30, 128, kNmt, build_nmt), "4");
  for (const SockeyeDefinition& d : kSockeyes)
    add(sequence_entry(std::string(d.name), "mxnet", kTranslation, "IWSLT15 English-Vietnamese", 30, 64, kSockeye, build_sockeye),
        fmt::format("{}", 2 * d.layers + 1));
  add(sequence_entry("lstm_seq2seq", "pytorch", "sequence to sequence", "none", 128, 32, kReference, build_reference), "8");
}

}  // namespace tbdsim
