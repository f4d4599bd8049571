#pragma once
#include <span>
#include <string>
#include <vector>

#include "calibrate/fit/observations.hpp"

namespace tbdsim::calibrate {

/// Which samples can be true of a device.
struct Plausibility {
  std::vector<bool> kept;             ///< one per observation
  std::vector<std::string> warnings;  ///< with the row numbers of what was left out
};

/// Shortest time that the roofline allows, with a margin for boards that run above their listed clock and for data
/// that stays in the cache.
[[nodiscard]] Seconds least_time(const Observation& row, const Device& device);
/// Time of the roofline without any efficiency: useful arithmetic at the peak or bytes at the bandwidth, the longer.
[[nodiscard]] Seconds ideal_time(const Observation& row, const Device& device);

/// Leaves out samples faster than physics and those hundreds of times slower than the roofline; where most are, the unit of
/// the times is probably off by 1000 and the warning says so. `fate`: what the warnings say becomes of these rows.
[[nodiscard]] Plausibility judge(std::span<const Observation> rows, const Device& device, std::string_view fate = "left out");

}  // namespace tbdsim::calibrate
