#include <fmt/format.h>

#include <array>
#include <vector>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource =
    "Li et al., arXiv:1904.03288, as in NVIDIA DeepLearningExamples, PyTorch/SpeechRecognition/Jasper, jasper10x5dr";
constexpr std::int64_t kBands = 64, kCharacters = 29;
constexpr double kSecondsPerFrame = 0.01;
constexpr int kRepeats = 5;

struct Block {
  std::int64_t channels, kernel;
  double dropout;
};
constexpr std::array kBlocks = {Block{256, 11, 0.2}, Block{256, 11, 0.2}, Block{384, 13, 0.2}, Block{384, 13, 0.2},
                                Block{512, 17, 0.2}, Block{512, 17, 0.2}, Block{640, 21, 0.3}, Block{640, 21, 0.3},
                                Block{768, 25, 0.3}, Block{768, 25, 0.3}};

/// A convolution over time, channels x 1 x frames, and its batch norm.
TensorId unit(GraphBuilder& g, TensorId x, std::int64_t channels, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
              const std::string& name) {
  const ConvolutionAttributes a{channels, 1, kernel, 1, stride, 0, dilation * (kernel / 2), dilation, 1, false};
  return g.batch_norm(g.convolution(x, a, name), name + ".bn");
}

TensorId activated(GraphBuilder& g, TensorId x, double dropout, const std::string& name) {
  return g.dropout(g.relu(x, name + ".relu", true), dropout, name + ".dropout");
}

/// Every block adds the results of all blocks before it, each through a projection of its own.
Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const std::int64_t frames = sequence_length(entry, options);
  GraphBuilder g(entry.name, entry.variant, "utterance", Shape{kBands, 1, frames}, entry.default_batch);
  g.counts_in("audio second", static_cast<double>(frames) * kSecondsPerFrame);
  TensorId x = activated(g, unit(g, g.input(), 256, 11, 2, 1, "prologue"), 0.2, "prologue");
  std::vector<TensorId> before{x};
  for (std::size_t b = 0; b < kBlocks.size(); ++b) {
    const std::string p = fmt::format("block{}.", b);
    for (int i = 0; i < kRepeats; ++i) {
      const std::string q = fmt::format("{}{}", p, i);
      x = unit(g, x, kBlocks[b].channels, kBlocks[b].kernel, 1, 1, q);
      if (i + 1 < kRepeats) x = activated(g, x, kBlocks[b].dropout, q);
    }
    for (std::size_t k = 0; k < before.size(); ++k) {
      const std::string q = fmt::format("{}residual{}", p, k);
      x = g.plus(x, unit(g, before[k], kBlocks[b].channels, 1, 1, 1, q), q + ".add");
    }
    x = activated(g, x, kBlocks[b].dropout, p + "end");
    before.push_back(x);
  }
  x = activated(g, unit(g, x, 896, 29, 1, 2, "epilogue1"), 0.4, "epilogue1");
  x = activated(g, unit(g, x, 1024, 1, 1, 1, "epilogue2"), 0.4, "epilogue2");
  x = g.convolution(x, ConvolutionAttributes{kCharacters, 1, 1, 1, 1, 0, 0, 1, 1, true}, "decoder");
  const Shape scores = g.shape(x);
  if (scores.size() == 3) x = g.transpose(g.reshape(x, {kCharacters, scores[2]}, "characters"), {1, 0}, "frames");
  g.add(OpKind::ctc_loss, {x}, {}, "loss");
  return std::move(g).finish();
}

}  // namespace

void append_jasper(std::vector<ZooEntry>& entries) {
  // Utterances of LibriSpeech up to 16.7 s, 12.3 s on average.
  entries.push_back(sequence_entry("jasper", "pytorch", "speech recognition", "LibriSpeech", 1230, 32, kSource, build));
  entries.back().layers = "54";
  entries.back().dominant_layer = "convolution";
}

}  // namespace tbdsim
