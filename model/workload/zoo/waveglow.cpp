#include <fmt/format.h>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource =
    "Prenger et al., arXiv:1811.00002, as in NVIDIA DeepLearningExamples, PyTorch/SpeechSynthesis/Tacotron2/waveglow";
constexpr std::int64_t kBands = 80, kFlows = 12, kGroup = 8, kLayers = 8, kChannels = 512;
constexpr std::int64_t kHop = 256, kWindow = 1024;           // of the spectrogram, in audio samples
constexpr std::int64_t kEarlyEvery = 4, kEarlyChannels = 2;  // channels that leave for the loss, and how often

/// A convolution over time, channels x 1 x steps, with normed weights.
ConvolutionAttributes over_time(std::int64_t channels, std::int64_t kernel, std::int64_t dilation = 1) {
  return {channels, 1, kernel, 1, 1, 0, dilation * (kernel / 2), dilation, 1, true, true};
}

TensorId channels_of(GraphBuilder& g, TensorId x, std::int64_t begin, std::int64_t end, const std::string& name) {
  return g.add(OpKind::slice, {x}, SliceAttributes{0, begin, end}, name);
}

/// Spectrogram at the rate of the audio, `kGroup` steps side by side as channels.
TensorId conditions(GraphBuilder& g, std::int64_t samples) {
  const TensorId spectrogram = g.another_input(Shape{kBands, 1, samples / kHop + 1}, "spectrogram");
  TensorId x = g.add(OpKind::transposed_convolution, {spectrogram},
                     ConvolutionAttributes{kBands, 1, kWindow, 1, kHop, 0, 0, 1, 1, true}, "upsample");
  x = g.add(OpKind::slice, {x}, SliceAttributes{2, 0, samples}, "upsample.cut");
  x = g.reshape(x, {kBands, samples / kGroup, kGroup}, "unfold");
  return g.reshape(g.transpose(x, {0, 2, 1}, "unfold.copy"), {kBands * kGroup, 1, samples / kGroup}, "conditions");
}

/// The network that makes scale and shift of one half of the audio from the other.
TensorId wavenet(GraphBuilder& g, TensorId audio, TensorId conditions, std::int64_t half, const std::string& p) {
  TensorId x = g.convolution(audio, over_time(kChannels, 1), p + "start");
  TensorId output{};
  for (std::int64_t i = 0; i < kLayers; ++i) {
    const std::string q = fmt::format("{}{}.", p, i);
    const bool last = i + 1 == kLayers;
    const TensorId in = g.convolution(x, over_time(2 * kChannels, 3, std::int64_t{1} << i), q + "in");
    const TensorId sum = g.plus(in, g.convolution(conditions, over_time(2 * kChannels, 1), q + "cond"), q + "sum");
    const TensorId gated =
        g.add(OpKind::multiply,
              {g.activation(channels_of(g, sum, 0, kChannels, q + "tanh_part"), ActivationKind::tanh, q + "tanh"),
               g.activation(channels_of(g, sum, kChannels, 2 * kChannels, q + "gate_part"), ActivationKind::sigmoid, q + "gate")},
              {}, q + "gated");
    TensorId skip = g.convolution(gated, over_time(last ? kChannels : 2 * kChannels, 1), q + "res_skip");
    if (!last) {
      x = g.plus(channels_of(g, skip, 0, kChannels, q + "res"), x, q + "residual");
      skip = channels_of(g, skip, kChannels, 2 * kChannels, q + "skip");
    }
    output = i == 0 ? skip : g.plus(skip, output, q + "output");
  }
  ConvolutionAttributes end = over_time(2 * half, 1);
  end.gain = false;
  return g.convolution(output, end, p + "end");
}

/// The exponential keeps its result, as a hyperbolic tangent does.
TensorId exponential(GraphBuilder& g, TensorId x, const std::string& name) { return g.activation(x, ActivationKind::tanh, name); }

/// Not modelled: kernels over the weights alone, which norm them and take determinants of matrices of 4 to 8 rows.
Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const std::int64_t samples = std::max<std::int64_t>(kHop, sequence_length(entry, options) / kGroup * kGroup);
  GraphBuilder g(entry.name, entry.variant, "segment", Shape{kGroup, 1, samples / kGroup}, entry.default_batch);
  g.counts_in("audio sample", static_cast<double>(samples));
  g.trains_with("adam");
  const TensorId mel = conditions(g, samples);
  TensorId audio = g.input();
  std::vector<TensorId> outputs;
  std::int64_t channels = kGroup;
  for (std::int64_t k = 0; k < kFlows; ++k) {
    const std::string p = fmt::format("flow{}.", k);
    if (k > 0 && k % kEarlyEvery == 0) {
      outputs.push_back(channels_of(g, audio, 0, kEarlyChannels, p + "early"));
      audio = channels_of(g, audio, kEarlyChannels, channels, p + "rest");
      channels -= kEarlyChannels;
    }
    const std::int64_t half = channels / 2;
    ConvolutionAttributes mixes = over_time(channels, 1);
    mixes.bias = mixes.gain = false;
    audio = g.convolution(audio, mixes, p + "convinv");
    const TensorId kept = channels_of(g, audio, 0, half, p + "kept"),
                   changed = channels_of(g, audio, half, channels, p + "changed");
    const TensorId made = wavenet(g, kept, mel, half, p);
    const TensorId log_scale = channels_of(g, made, half, channels, p + "log_s"), shift = channels_of(g, made, 0, half, p + "b");
    const TensorId scaled = g.add(OpKind::multiply, {exponential(g, log_scale, p + "exp"), changed}, {}, p + "scale");
    audio = g.concat({kept, g.plus(scaled, shift, p + "shift")}, p + "join");
    g.add(OpKind::element_loss, {log_scale}, {}, p + "log_s.loss");
  }
  outputs.push_back(audio);
  g.add(OpKind::element_loss, {g.concat(outputs, "z")}, {}, "loss");
  return std::move(g).finish();
}

}  // namespace

void append_waveglow(std::vector<ZooEntry>& entries) {
  entries.push_back(sequence_entry("waveglow", "pytorch", "speech synthesis", "LJ Speech", 8000, 4, kSource, build));
  entries.back().dominant_layer = "convolution";
}

}  // namespace tbdsim
