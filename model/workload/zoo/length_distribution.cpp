#include "model/workload/zoo/length_distribution.hpp"

#include <algorithm>
#include <cmath>

namespace tbdsim {
namespace {

double normal_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

struct LogNormal {
  double mu, sigma, mean;
  explicit LogNormal(const LengthDistribution& d) : mean(d.mean) {
    const double variance = std::log1p(d.deviation * d.deviation / (d.mean * d.mean));
    sigma = std::sqrt(variance);
    mu = std::log(d.mean) - 0.5 * variance;
  }
  [[nodiscard]] double below(double x) const { return x <= 0.0 ? 0.0 : normal_below((std::log(x) - mu) / sigma); }
  /// Part of the mean that lies below x.
  [[nodiscard]] double mean_below(double x) const {
    return x <= 0.0 ? 0.0 : mean * normal_below((std::log(x) - mu) / sigma - sigma);
  }
};

constexpr double kFewest = 1e-6;  // a bucket that holds fewer never makes a batch

}  // namespace

const std::vector<LengthDistribution>& length_distributions() {
  constexpr std::string_view kIwslt =
      "assumed: IWSLT15 English-Vietnamese, 133,000 pairs of sentences: means of 25 and 20 words with as broad a spread as other "
      "translated speech; paper: buckets of 10 words up to 100 (tbd-ai/tbd-suite, Sockeye and NMT scripts)";
  constexpr std::string_view kWmt =
      "assumed: WMT16 English-German in subwords, 29 on average; paper: lengths up to 50, buckets of 10 (NVIDIA "
      "DeepLearningExamples, PyTorch GNMT)";
  constexpr std::string_view kLibriSpeech =
      "paper: LibriSpeech (Panayotov et al., ICASSP 2015): 281,241 utterances in 960 hours, 1,230 frames of 10 ms each; buckets "
      "of "
      "200 to 1,600 frames by 100 (tbd-ai/tbd-suite, deepspeech.cfg); assumed: a standard deviation of 400 frames";
  static const std::vector<LengthDistribution> kAll{{"sockeye", 25, 15, 10, 10, 100, kIwslt},
                                                    {"nmt", 25, 15, 10, 10, 100, kIwslt},
                                                    {"gnmt", 29, 16, 10, 10, 50, kWmt},
                                                    {"deep_speech_2", 1230, 400, 100, 200, 1600, kLibriSpeech}};
  return kAll;
}

const LengthDistribution* lengths_of(std::string_view model) {
  const auto& all = length_distributions();
  const auto found = std::find_if(all.begin(), all.end(), [&](const LengthDistribution& d) { return d.model == model; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<LengthBucket> buckets(const LengthDistribution& d) {
  const LogNormal lengths(d);
  const double all = lengths.below(d.longest);
  std::vector<LengthBucket> result;
  double before = 0.0;
  for (int length = d.shortest; length <= d.longest; length += d.width) {
    const double until = lengths.below(length) / all;
    if (until - before > kFewest || length == d.longest) {
      result.push_back({length, until - before});
      before = until;
    }
  }
  return result;
}

double mean_length(const LengthDistribution& d) {
  const LogNormal lengths(d);
  return lengths.mean_below(d.longest) / lengths.below(d.longest);
}

}  // namespace tbdsim
