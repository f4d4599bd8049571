#pragma once
#include <algorithm>
#include <vector>

#include "calibrate/decode/activity_log.hpp"

namespace tbdsim::calibrate {

/// What a piece of work takes of the device.
struct DeviceTime {
  Seconds time;     ///< of a device on which launches go back to back
  Seconds kernels;  ///< sum of its kernels, copies and fills
};

/// From the activities of one piece of work, in any order: the time in which at least one of them runs, so that those on several
/// streams at once count once; pauses between them, as far as the device needs them (`gap`) and the host was not late; and the
/// one that parts this work from the next. An average over launches back to back, as DeepBench publishes, holds the same.
[[nodiscard]] inline DeviceTime back_to_back(std::vector<Activity> activities, Seconds gap) {
  std::sort(activities.begin(), activities.end(), [](const Activity& a, const Activity& b) { return a.start_ns < b.start_ns; });
  DeviceTime result;
  const Activity* last = nullptr;  // of those so far, the one that ends last
  for (const Activity& a : activities) {
    result.kernels += a.time();
    const std::int64_t from = last == nullptr ? a.start_ns : std::max(a.start_ns, last->end_ns);
    if (a.end_ns > from) result.time += Seconds(1e-9 * static_cast<double>(a.end_ns - from));
    if (last != nullptr && a.start_ns > last->end_ns)
      result.time += std::min(gap, Seconds(1e-9 * static_cast<double>(a.start_ns - last->end_ns)));
    if (last == nullptr || a.end_ns > last->end_ns) last = &a;
  }
  result.time += gap;
  return result;
}

}  // namespace tbdsim::calibrate
