#include "calibrate/collect/stopping_rule.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

namespace tbdsim::calibrate {
namespace {

/// Linear interpolation between the order statistics of `sorted`.
Seconds quantile(std::span<const Seconds> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Repetitions summarize(std::span<const Seconds> times) {
  assert(!times.empty());
  std::vector<Seconds> sorted(times.begin(), times.end());
  std::sort(sorted.begin(), sorted.end());
  constexpr double kQuartilesOfNormal = 1.349, kOutlier = 5.0;
  Repetitions result;
  result.median = quantile(sorted, 0.5);
  result.spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / kQuartilesOfNormal;
  if (result.spread > Seconds(0.0)) {
    result.outliers = static_cast<int>(std::count_if(
        sorted.begin(), sorted.end(), [&](Seconds t) { return std::abs((t - result.median) / result.spread) > kOutlier; }));
  }
  return result;
}

Stop decide(std::span<const Seconds> times, const StoppingRule& rule) {
  if (static_cast<int>(times.size()) < rule.least) return Stop::go_on;
  constexpr double kErrorOfMedian = 1.2533;
  const Repetitions now = summarize(times);
  const double error = kErrorOfMedian * (now.spread / now.median) / std::sqrt(static_cast<double>(times.size()));
  if (error <= rule.relative_error) return Stop::converged;
  if (std::accumulate(times.begin(), times.end(), Seconds(0.0)) >= rule.longest) return Stop::out_of_time;
  if (static_cast<int>(times.size()) >= rule.most) return Stop::out_of_count;
  return Stop::go_on;
}

}  // namespace tbdsim::calibrate
