#pragma once
#include <string>
#include <vector>

#include "calibrate/fit/collective_samples.hpp"
#include "model/hardware/own_measurements.hpp"

namespace tbdsim::calibrate {

/// What samples beyond kernels say of a machine.
struct OwnFit {
  OwnMeasurements own;
  std::vector<std::string> lines;    ///< one for each value: "launch interval 2.3 us (6 samples)"
  std::vector<std::string> missing;  ///< samples that tell nothing alone, and what they need; those that cannot be true
  [[nodiscard]] bool any() const { return !lines.empty(); }
};

/// Launches, host copies, overlap and collectives of one board, on top of `before`:
///
/// - launch interval: time over kernels of the longest rows of empty kernels issued one by one, the median;
/// - copies: bytes over time of the largest copies of pinned memory, the median by direction;
/// - overlap: 1 - alone / beside, of a product alone (a sample of `gemm` of the same shape and precision) and beside an
///   all-reduce that lasts as long, the median;
/// - collectives: the pace (`fit_pace`).
///
/// Every sample counts as one of `device`.
[[nodiscard]] OwnFit fit_own(std::vector<Sample> samples, const Device& device, const OwnMeasurements& before,
                             CollectiveForms& forms, const std::string& source);

/// Whether `fit_own` takes something from the sample.
[[nodiscard]] bool tells_own(const Sample& sample, const Device& device, CollectiveForms& forms);

}  // namespace tbdsim::calibrate
