#pragma once
#include <string_view>
#include <vector>

namespace tbdsim {

/// One bucket: samples of a data set are padded to its length and batched with their like.
struct LengthBucket {
  int length = 0;
  double share = 0.0;  ///< of the samples
};

/// Lengths of a data set's samples, in the unit of `--seq-len`: log-normal, longer ones than `longest` left out, as training
/// scripts do; batches are made of one bucket each.
struct LengthDistribution {
  std::string_view model;
  double mean = 0.0, deviation = 0.0;  ///< of the log-normal, before the longest are left out
  int width = 10, shortest = 10, longest = 100;
  std::string_view source;
};

/// The distribution of the data set that the zoo's network trains on; null if its samples are all alike or none is known.
[[nodiscard]] const LengthDistribution* lengths_of(std::string_view model);
/// Every network with a distribution.
[[nodiscard]] const std::vector<LengthDistribution>& length_distributions();

/// Buckets of `distribution` that hold samples; shares sum to 1.
[[nodiscard]] std::vector<LengthBucket> buckets(const LengthDistribution& distribution);
/// Mean length of the samples that are not left out, before padding: sum of what each bucket holds on average.
[[nodiscard]] double mean_length(const LengthDistribution& distribution);

}  // namespace tbdsim
