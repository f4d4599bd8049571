#pragma once
#include <span>

#include "model/units/quantity.hpp"

namespace tbdsim::calibrate {

/// When a measurement has been repeated often enough: the standard error of the median is below a share of it.
struct StoppingRule {
  double relative_error = 0.005;  ///< of the median
  int least = 10, most = 1000;    ///< repetitions
  Seconds longest{1.0};           ///< device time spent on one measurement
};

enum class Stop {
  go_on,
  converged,     ///< the error is small enough
  out_of_time,   ///< `longest` is spent: the spread stays wide
  out_of_count,  ///< `most` repetitions: the spread stays wide
};

/// What a set of repetitions says. Robust: one interrupted repetition among many moves neither figure.
struct Repetitions {
  Seconds median;
  Seconds spread;  ///< standard deviation estimated from the quartiles (their distance / 1.349, exact for a normal distribution)
  int outliers = 0;  ///< further than five spreads from the median; they are kept
};
[[nodiscard]] Repetitions summarize(std::span<const Seconds> times);

/// Standard error of a median of n: 1.2533 spread / sqrt(n) (normal distribution). A spread of zero, as a coarse timer
/// gives, converges at `least`.
[[nodiscard]] Stop decide(std::span<const Seconds> times, const StoppingRule& rule);

}  // namespace tbdsim::calibrate
