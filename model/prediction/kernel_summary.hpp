#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "model/prediction/prediction.hpp"

namespace tbdsim {

/// All launches of one kernel in a step, as a profiler's summary lists them.
struct KernelGroup {
  std::string name, algorithm;
  std::string bound;  ///< of most of its time: compute, memory, launch
  std::int64_t launches = 0;
  Seconds time;
  double time_share = 0;          ///< of all kernels' time
  double fp32_utilization = 0;    ///< weighted by time: share of it that the units execute multiply-adds
  double useful_utilization = 0;  ///< the same of useful FLOP over the listed peak
  double occupancy = 0;           ///< the same, as modelled
  StallShares stalls{};           ///< of its time
  std::string stall;              ///< the largest of them
};

/// Kernels of one step by (name, algorithm), longest first.
struct KernelSummary {
  std::vector<KernelGroup> groups;
  Seconds time;                                                   ///< of all kernels
  double mean_fp32_utilization = 0, mean_useful_utilization = 0;  ///< weighted by time
  double mean_occupancy = 0;                                      ///< the same
  /// What warps wait for, with the parts of the time (`stall_shares`), largest first.
  std::vector<std::pair<std::string, double>> stalls;
  /// Indices into `groups` of the longest groups whose utilisation is below, and not below, the mean: the methodology
  /// of "TBD: Benchmarking and Analyzing Deep Neural Network Training" (Zhu et al., IISWC 2018, tables 5 and 6).
  std::vector<std::size_t> long_below_mean, long_above_mean;
};

/// Expects a prediction made with `detail`.
[[nodiscard]] KernelSummary summarize_kernels(const Prediction& prediction);

}  // namespace tbdsim
