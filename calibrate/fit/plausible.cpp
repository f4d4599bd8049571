#include "calibrate/fit/plausible.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tbdsim::calibrate {
namespace {

// GeForce boards run up to 20 % above the boost clock that they list (published large products of the GTX 1080 Ti reach
// 1.2 of the listed peak); no board exceeds its memory's rate.
constexpr double kClockMargin = 1.35, kBandwidthMargin = 1.05;
// Data below this may never leave the caches.
constexpr Bytes kCached(128e6);
// Poor kernels reach a hundredth of the roofline; a slip of the unit is a thousand.
constexpr double kSlowest = 150.0;
constexpr Seconds kStart(20e-6), kCallStart(100e-6);  ///< a short kernel, a call from the host

std::string listed(const std::vector<int>& lines) {
  constexpr std::size_t kMost = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, lines.size()); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", lines[i]);
  if (lines.size() > kMost) text += fmt::format(" and {} more", lines.size() - kMost);
  return text;
}

}  // namespace

Seconds ideal_time(const Observation& row, const Device& device) {
  return std::max(row.flop / peak_for(device, row.precision), row.bytes / device.memory_bandwidth);
}

Seconds least_time(const Observation& row, const Device& device) {
  FlopPerSecond peak = peak_for(device, row.precision);
  if (row.precision == "fp16" && device.peak.fp16_vector) peak = std::max(peak, *device.peak.fp16_vector);
  const Seconds arithmetic = row.least_flop / (peak * kClockMargin);
  const Seconds moving = row.bytes > kCached ? row.bytes / (device.memory_bandwidth * kBandwidthMargin) : Seconds(0.0);
  return std::max(arithmetic, moving);
}

Plausibility judge(std::span<const Observation> rows, const Device& device, std::string_view fate) {
  Plausibility result;
  std::vector<int> fast, slow;
  for (const Observation& row : rows) {
    const bool too_fast = row.time < least_time(row, device);
    const bool too_slow = row.time > kSlowest * (ideal_time(row, device) + (row.call ? kCallStart : kStart));
    result.kept.push_back(!too_fast && !too_slow);
    if (too_fast) fast.push_back(row.line);
    if (too_slow) slow.push_back(row.line);
  }
  const auto warn = [&](const std::vector<int>& lines, const char* what, const char* unit) {
    if (lines.empty()) return;
    const bool most = 2 * lines.size() > rows.size();
    result.warnings.push_back(fmt::format("{} of {} samples {} {} ({}); {}: row{} {}", lines.size(), rows.size(), what, device.id,
                                          most ? unit : "check the clock, the shape and the device", fate,
                                          lines.size() == 1 ? "" : "s", listed(lines)));
  };
  warn(fast, "are faster than physics allows on",
       "implausible against the roofline: are the times 1000 times too small? time_s is in seconds");
  warn(slow, "are hundreds of times slower than the roofline of",
       "implausible: are the times 1000 times too large, in milliseconds? time_s is in seconds");
  return result;
}

}  // namespace tbdsim::calibrate
