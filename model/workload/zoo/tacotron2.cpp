#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource =
    "Shen et al., arXiv:1712.05884, as in NVIDIA DeepLearningExamples, PyTorch/SpeechSynthesis/Tacotron2/tacotron2";
constexpr std::int64_t kSymbols = 148, kWidth = 512, kBands = 80, kPrenet = 256, kCell = 1024;
constexpr std::int64_t kAttention = 128, kFilters = 32, kFilterSteps = 31, kSteps = 5;
// Of the clips of LJ Speech: 1,308,678 characters in 23:55:17 h (its page), 86.1 frames of the spectrogram a second.
constexpr double kCharactersPerFrame = 0.176;

/// A convolution over time, channels x 1 x steps, and its batch norm.
TensorId unit(GraphBuilder& g, TensorId x, std::int64_t channels, const std::string& name) {
  const ConvolutionAttributes a{channels, 1, kSteps, 1, 1, 0, kSteps / 2, 1, 1, true};
  return g.batch_norm(g.convolution(x, a, name), name + ".bn");
}

TensorId rows_of(GraphBuilder& g, TensorId maps, const std::string& name) {
  const Shape in = g.shape(maps);
  return g.transpose(g.reshape(maps, {in.front(), in.back()}, name), {1, 0}, name + "_rows");
}

TensorId maps_of(GraphBuilder& g, TensorId rows, const std::string& name) {
  const Shape in = g.shape(rows);
  return g.reshape(g.transpose(rows, {1, 0}, name), {in[1], 1, in[0]}, name + "_maps");
}

/// Vectors of the characters.
TensorId encode(GraphBuilder& g) {
  TensorId x =
      maps_of(g, g.add(OpKind::embedding, {g.input()}, EmbeddingAttributes{kSymbols, kWidth}, "embedding"), "characters");
  for (int i = 0; i < 3; ++i) {
    const std::string p = fmt::format("encoder.{}", i);
    x = g.dropout(g.relu(unit(g, x, kWidth, p), p + ".relu"), 0.5, p + ".dropout");
  }
  return g.add(OpKind::lstm, {rows_of(g, x, "encoder.out")}, RecurrentAttributes{kWidth / 2, 1, true}, "encoder.lstm");
}

/// One step of a cell written as two products and a kernel of gates (nn.LSTMCell). The gates are a sum here, of which a part is
/// the state.
TensorId cell(GraphBuilder& g, TensorId input, TensorId state, double dropout, const std::string& p) {
  const TensorId gates = g.plus(g.linear(input, 4 * kCell, p + "ih"), g.linear(state, 4 * kCell, p + "hh"), p + "gates");
  return g.dropout(g.add(OpKind::slice, {gates}, SliceAttributes{1, 0, kCell}, p + "state"), dropout, p + "dropout");
}

/// What a step of the decoder hands to the next one.
struct State {
  TensorId attention, decoder, context, weights, sum;
};

/// Scores of every character by the query, what the characters are and where attention was before. Nothing follows the `last`
/// step.
void attend(GraphBuilder& g, TensorId memory, TensorId keys, State& s, bool last, const std::string& p) {
  const std::int64_t steps = g.shape(memory).front();
  const TensorId before = g.reshape(g.concat({s.weights, s.sum}, p + "before"), {2, 1, steps}, p + "before_maps");
  const TensorId query = g.linear(s.attention, kAttention, p + "query", false);
  const TensorId places =
      g.convolution(before, ConvolutionAttributes{kFilters, 1, kFilterSteps, 1, 1, 0, kFilterSteps / 2}, p + "location_conv");
  const TensorId places_rows = g.linear(rows_of(g, places, p + "location"), kAttention, p + "location_dense", false);
  const TensorId with_query = g.reshape(g.add(OpKind::pairwise_add, {query, places_rows}, {}, p + "with_query"),
                                        {steps, kAttention}, p + "with_query_rows");
  const TensorId sum = g.activation(g.plus(with_query, keys, p + "with_keys"), ActivationKind::tanh, p + "tanh");
  TensorId scores = g.reshape(g.linear(sum, 1, p + "v", false), {1, steps}, p + "scores");
  scores = g.add(OpKind::mask, {scores}, {}, p + "mask");
  s.weights = g.add(OpKind::softmax, {scores}, {}, p + "softmax");
  s.context = g.add(OpKind::matmul, {s.weights, memory}, MatmulAttributes{false}, p + "context");
  if (!last) s.sum = g.plus(s.sum, s.weights, p + "sum");
}

/// Frames and stop scores, one step of the decoder after the other; the first step's arrays serve all.
TensorId decode(GraphBuilder& g, TensorId memory, std::int64_t frames, std::vector<TensorId>& stops) {
  const std::int64_t characters = g.shape(memory).front();
  TensorId inputs = g.another_input(Shape{frames, kBands}, "frames");
  for (int i = 0; i < 2; ++i) {
    const std::string p = fmt::format("prenet.{}", i);
    inputs = g.dropout(g.relu(g.linear(inputs, kPrenet, p, false), p + ".relu"), 0.5, p + ".dropout");
  }
  const TensorId keys = g.linear(memory, kAttention, "attention.memory", false);
  const auto zeros = [&](std::int64_t width, const char* name) { return g.another_input(Shape{1, width}, name); };
  State s{zeros(kCell, "attention.state"), zeros(kCell, "decoder.state"), zeros(kWidth, "context"), zeros(characters, "weights"),
          zeros(characters, "weights.sum")};
  std::vector<TensorId> made;
  for (std::int64_t t = 0; t < frames; ++t) {
    const std::string p = fmt::format("t{}.", t);
    g.set_weights(t > 0 ? GraphBuilder::Weights::shared : GraphBuilder::Weights::own);
    const TensorId frame = g.add(OpKind::slice, {inputs}, SliceAttributes{0, t, t + 1, true}, p + "frame");
    s.attention = cell(g, g.concat({frame, s.context}, p + "input"), s.attention, 0.1, p + "attention_rnn.");
    attend(g, memory, keys, s, t + 1 == frames, p + "attention.");
    s.decoder = cell(g, g.concat({s.attention, s.context}, p + "decoder_input"), s.decoder, 0.1, p + "decoder_rnn.");
    const TensorId out = g.concat({s.decoder, s.context}, p + "output");
    made.push_back(g.linear(out, kBands, p + "projection"));
    stops.push_back(g.linear(out, 1, p + "gate"));
  }
  g.set_weights(GraphBuilder::Weights::own);
  return made.size() == 1 ? made.front() : g.add(OpKind::concat, made, ConcatAttributes{0}, "decoder.frames");
}

/// Neglected: the norm of all gradients that the script clips, and masks over padded frames.
Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const std::int64_t frames = sequence_length(entry, options);
  constexpr std::int64_t kMostFrames = 2048;  // each some 25 operators of the graph
  if (frames > kMostFrames)
    return fail(fmt::format("--seq-len {}: the decoder of {} is unrolled frame by frame; at most {} frames are modelled", frames,
                            entry.name, kMostFrames));
  const auto characters = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(frames) * kCharactersPerFrame));
  GraphBuilder g(entry.name, entry.variant, "clip", Shape{characters}, entry.default_batch);
  g.counts_in("frame", static_cast<double>(frames));
  g.labels(static_cast<double>(frames * (kBands + 1)));
  g.trains_with("adam");
  std::vector<TensorId> stops;
  const TensorId made = decode(g, encode(g), frames, stops);
  TensorId x = maps_of(g, made, "postnet.in");
  const TensorId plain = x;
  for (int i = 0; i < 5; ++i) {
    const std::string p = fmt::format("postnet.{}", i);
    x = unit(g, x, i < 4 ? kWidth : kBands, p);
    if (i < 4) x = g.activation(x, ActivationKind::tanh, p + ".tanh");
    x = g.dropout(x, 0.5, p + ".dropout");
  }
  g.add(OpKind::element_loss, {plain}, {}, "frames.loss");
  g.add(OpKind::element_loss, {g.plus(plain, x, "postnet.add")}, {}, "postnet.loss");
  const TensorId stop = stops.size() == 1 ? stops.front() : g.add(OpKind::concat, stops, ConcatAttributes{0}, "gates");
  g.add(OpKind::element_loss, {stop}, {}, "gate.loss");
  return std::move(g).finish();
}

}  // namespace

void append_tacotron2(std::vector<ZooEntry>& entries) {
  // Padded to the longest of a batch of clips of LJ Speech, which last 6.57 s on average and 10.1 s at most.
  entries.push_back(sequence_entry("tacotron2", "pytorch", "speech synthesis", "LJ Speech", 860, 48, kSource, build));
  entries.back().dominant_layer = "linear";
}

}  // namespace tbdsim
