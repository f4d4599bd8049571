#include <fmt/format.h>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kMxnet = "Amodei et al., arXiv:1512.02595, as in apache/mxnet example/speech_recognition, deepspeech.cfg";
constexpr const char* kPyTorch = "Amodei et al., arXiv:1512.02595, as in SeanNaren/deepspeech.pytorch, 3 GRU layers of 2560";
constexpr const char* kWordModel = "Zaremba et al., arXiv:1409.2329, the large network";

/// Frames of a spectrogram are 10 ms apart.
constexpr double kSecondsPerFrame = 0.01;
constexpr std::int64_t kBands = 161, kCharacters = 29;

/// A convolution over bands x frames, its batch norm and its clipped ReLU.
TensorId convolve(GraphBuilder& g, TensorId x, ConvolutionAttributes a, const std::string& name) {
  x = g.batch_norm(g.convolution(x, a, name), name + "_bn");
  return g.activation(x, ActivationKind::relu6, name + "_relu");
}

/// Channels x bands x frames to frames x features.
TensorId frames_first(GraphBuilder& g, TensorId x) {
  const Shape y = g.shape(x);
  if (y.size() != 3) return x;  // only after an earlier problem
  return g.transpose(g.reshape(x, {y[0] * y[1], y[2]}, "features"), {1, 0}, "frames");
}

/// Seven bidirectional GRU layers whose directions are joined; no padding in the convolutions.
Result<OpGraph> build_mxnet(const ZooEntry& entry, const ZooOptions& options) {
  constexpr std::int64_t kHidden = 1760;
  const std::int64_t frames = sequence_length(entry, options);
  GraphBuilder g(entry.name, entry.variant, "utterance", Shape{1, kBands, frames}, entry.default_batch);
  g.counts_in("audio second", static_cast<double>(frames) * kSecondsPerFrame);
  TensorId x = convolve(g, g.input(), {32, 41, 11, 2, 2, 0, 0, 1, 1, true}, "conv1");
  x = frames_first(g, convolve(g, x, {32, 21, 11, 2, 1, 0, 0, 1, 1, true}, "conv2"));
  for (int i = 0; i < 7; ++i) {
    x = g.add(OpKind::gru, {x}, RecurrentAttributes{kHidden, 1, true, true}, fmt::format("gru{}", i));
    x = g.batch_norm(x, fmt::format("gru{}_bn", i));
  }
  x = g.relu(g.batch_norm(g.linear(x, kHidden, "fc"), "fc_bn"), "fc_relu");
  g.add(OpKind::ctc_loss, {g.linear(x, kCharacters, "scores")}, {}, "loss");
  return std::move(g).finish();
}

/// Three bidirectional GRU layers whose directions are added; padded convolutions.
Result<OpGraph> build_pytorch(const ZooEntry& entry, const ZooOptions& options) {
  constexpr std::int64_t kHidden = 2560;
  const std::int64_t frames = sequence_length(entry, options);
  GraphBuilder g(entry.name, entry.variant, "utterance", Shape{1, kBands, frames}, entry.default_batch);
  g.counts_in("audio second", static_cast<double>(frames) * kSecondsPerFrame);
  TensorId x = convolve(g, g.input(), {32, 41, 11, 2, 2, 20, 5, 1, 1, true}, "conv1");
  x = frames_first(g, convolve(g, x, {32, 21, 11, 2, 1, 10, 5, 1, 1, true}, "conv2"));
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("rnn{}", i);
    if (i > 0) x = g.batch_norm(x, name + ".norm");
    x = g.add(OpKind::gru, {x}, RecurrentAttributes{kHidden, 1, true, true}, name);
    const TensorId ahead = g.add(OpKind::slice, {x}, SliceAttributes{1, 0, kHidden}, name + ".ahead");
    const TensorId back = g.add(OpKind::slice, {x}, SliceAttributes{1, kHidden, 2 * kHidden}, name + ".back");
    x = g.plus(ahead, back, name + ".sum");
  }
  x = g.linear(g.batch_norm(x, "fc.norm"), kCharacters, "fc", false);
  g.add(OpKind::ctc_loss, {x}, {}, "loss");
  return std::move(g).finish();
}

Result<OpGraph> build_word_model(const ZooEntry& entry, const ZooOptions& options) {
  constexpr std::int64_t kWords = 10000, kHidden = 1500;
  constexpr double kDropout = 0.65;
  const std::int64_t steps = sequence_length(entry, options);
  GraphBuilder g(entry.name, entry.variant, "sequence", Shape{steps}, entry.default_batch);
  g.counts_in("token", static_cast<double>(steps));
  TensorId x = g.add(OpKind::embedding, {g.input()}, EmbeddingAttributes{kWords, kHidden}, "embedding");
  for (int i = 0; i < 2; ++i) {
    x = g.dropout(x, kDropout, fmt::format("dropout{}", i));
    // The state of the sequence before is carried over without its gradient.
    x = g.add(OpKind::lstm, {x}, RecurrentAttributes{kHidden, 1, false, true}, fmt::format("lstm{}", i));
  }
  g.softmax_loss(g.linear(g.dropout(x, kDropout, "dropout2"), kWords, "scores"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_deep_speech(std::vector<ZooEntry>& entries) {
  const auto add = [&](ZooEntry entry, const char* layers, const char* dominant) {
    entry.layers = layers;
    entry.dominant_layer = dominant;
    entries.push_back(std::move(entry));
  };
  // LibriSpeech utterances last 12.3 s on average.
  add(sequence_entry("deep_speech_2", "mxnet", "speech recognition", "LibriSpeech", 1230, 8, kMxnet, build_mxnet), "9", "gru");
  add(sequence_entry("deep_speech_2", "pytorch", "speech recognition", "LibriSpeech", 1230, 16, kPyTorch, build_pytorch), "5",
      "gru");
  add(sequence_entry("lstm_lm", "pytorch", "language modelling", "Penn Treebank", 35, 20, kWordModel, build_word_model), "2",
      "lstm");
}

}  // namespace tbdsim
