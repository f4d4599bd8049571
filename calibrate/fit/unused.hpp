#pragma once
#include <string>
#include <vector>

#include "calibrate/decode/sample_table.hpp"

namespace tbdsim::calibrate {

/// Samples of one family that no parameter is fitted to and no prediction is compared with.
struct UnusedSamples {
  std::string family;
  int samples = 0;
  int line = 0;        ///< of the first, in its file
  std::string reason;  ///< where the model has what they say, or why its form is another
  std::string told;    ///< what they say, for the reader: "2.3 us a kernel"; may be empty
};

/// One entry a family, in order of first appearance.
[[nodiscard]] std::vector<UnusedSamples> unused_samples(const std::vector<Sample>& samples);

/// "launch: 3 samples (from row 120): REASON; measured: TOLD".
[[nodiscard]] std::string to_text(const UnusedSamples& unused);

}  // namespace tbdsim::calibrate
