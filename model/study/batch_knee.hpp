#pragma once
#include <optional>

#include "model/study/compare.hpp"

namespace tbdsim {

/// Where the curve of throughput against batch flattens.
struct BatchKnee {
  int batch = 0;              ///< the smallest that reaches `kKneeShare` of the most
  double share = 0;           ///< its throughput over the most
  int best = 0;               ///< batch of the most throughput
  int largest = 0;            ///< the largest that fits
  Bytes memory_per_sample{};  ///< slope of the peak of a GPU between the smallest and the largest batch that fit
};

/// A batch beyond the knee gains less than a tenth: a convention, for the curve itself is smooth.
constexpr double kKneeShare = 0.9;

/// Of the candidates that fit in memory. nullopt unless batch, and nothing else, varies, and two of them fit.
[[nodiscard]] std::optional<BatchKnee> batch_knee(const Comparison& comparison);

}  // namespace tbdsim
