#pragma once
#include <string>
#include <vector>

#include "calibrate/fit/kernel_fit.hpp"

namespace tbdsim::calibrate {

/// Samples of one family, or of another device, that no parameter is fitted to and no prediction is compared with.
struct UnusedSamples {
  std::string family;  ///< or the other device
  int samples = 0;
  int line = 0;        ///< of the first, in its file
  std::string reason;  ///< where the model has what they say, or why its form is another
  std::string told;    ///< what they say, for the reader: "2.3 us a kernel"; may be empty
};

/// One entry a family and reason, in order of first appearance. Arithmetic that a device of `devices` has no rate for is one.
[[nodiscard]] std::vector<UnusedSamples> unused_samples(const std::vector<Sample>& samples, const DeviceMap& devices = {});

/// Samples of other devices than `device`, one entry each, named after it. `catalogue`: the ids that are known; a name that is
/// none may be meant for this one.
[[nodiscard]] std::vector<UnusedSamples> samples_of_others(const std::vector<Sample>& samples, const std::string& device,
                                                           const std::vector<std::string>& catalogue);

/// "launch: 3 samples (from row 120): REASON; measured: TOLD".
[[nodiscard]] std::string to_text(const UnusedSamples& unused);

}  // namespace tbdsim::calibrate
