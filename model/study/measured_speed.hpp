#pragma once
#include <string>

#include "model/prediction/prediction.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

/// What somebody measured of a job: the time of a step, or a rate over all of its GPUs.
struct MeasuredSpeed {
  std::string text;    ///< as it was given
  bool rate = false;   ///< of samples or parts of them; else a step's time
  double value = 0.0;  ///< samples/s over all GPUs, or seconds
  double shown = 1.0;  ///< units of `unit` for one of `value`
  std::string unit;    ///< in which it was given: "images/s", "s"

  /// The same figure of a prediction, in the unit of `value`.
  [[nodiscard]] double of(const Prediction& prediction) const {
    return rate ? prediction.throughput.value : prediction.step_time.value.base();
  }
  /// The same with its range, in `unit`.
  [[nodiscard]] Ranged<double> shown_of(const Prediction& prediction) const;
  /// How many times as long as predicted the measured step takes; of rates, predicted over measured.
  [[nodiscard]] double slower_than(const Prediction& prediction) const;
};

/// Reads "97 ms" (of a step), "10.3 steps/s", "410 images/s" (samples, or what the network calls them, over all GPUs) and
/// "12000 tokens/s" (the parts in which the network's throughput is told). `base` says what those are called. Errors: no number
/// above zero, another unit.
[[nodiscard]] Result<MeasuredSpeed> read_measured_speed(const std::string& text, const Prediction& base);

}  // namespace tbdsim
