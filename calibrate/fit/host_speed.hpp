#pragma once
#include <string>

#include "calibrate/decode/host_samples.hpp"
#include "model/support/result.hpp"

namespace tbdsim::calibrate {

/// Speed of a host's thread against another's.
struct HostSpeed {
  double single_thread = 1;  ///< geometric mean over samples that both have: time there over time here
  double spread = 0;         ///< standard deviation of the logarithms of these relations
  int samples = 0;
  bool framework = true;  ///< from operators of the framework; false: from loops of this program alone
};

/// How fast `host` is against `reference`, whose `single_thread` is 1.
///
/// Operators of the framework decide where both have them, as they are what the host does in training. Without, the loops of
/// this program that stay in the core's own caches: dependent additions, virtual calls, allocations, reads that miss the first
/// cache. Errors: the two are of different framework versions; nothing in common.
[[nodiscard]] Result<HostSpeed> host_speed(const HostSamples& host, const HostSamples& reference);

}  // namespace tbdsim::calibrate
