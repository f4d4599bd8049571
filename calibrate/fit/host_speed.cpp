#include "calibrate/fit/host_speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tbdsim::calibrate {
namespace {

constexpr std::string_view kLoop = "speed";
/// Beyond its own caches a core shares what it reads with others.
constexpr std::array<std::string_view, 4> kCoreLoops{"cpu_dependent_add", "cpu_virtual_call", "cpu_malloc_free",
                                                     "cpu_pointer_chase_512KB"};
/// Assumed: far beyond any CPU that runs a framework; a slip of the unit is a thousand.
constexpr double kSlowest = 0.02, kFastest = 50.0;
/// Shorter times are mostly the clock's own.
constexpr Seconds kShortest(0.2e-6);

/// "1.13" of "torch 1.13.0a0": releases that differ in the last number issue operators alike.
std::string release(const std::string& framework) {
  const auto first = framework.find('.');
  const auto second = first == std::string::npos ? first : framework.find_first_not_of("0123456789", first + 1);
  return framework.substr(0, second);
}

}  // namespace

Result<HostSpeed> host_speed(const HostSamples& host, const HostSamples& reference) {
  if (!host.framework.empty() && release(host.framework) != release(reference.framework))
    return fail(
        fmt::format("samples of {} cannot be compared with the reference host's, which are of {}: versions differ in what they "
                    "spend on an operator; use a Python with {}, or --cpu-only",
                    host.framework, reference.framework, release(reference.framework)));
  HostSpeed speed;
  speed.framework = !host.framework.empty();
  double sum = 0.0, squares = 0.0;
  for (const HostSample& sample : host.samples) {
    if ((sample.pass == kLoop) == speed.framework) continue;
    if (!speed.framework && std::find(kCoreLoops.begin(), kCoreLoops.end(), sample.op) == kCoreLoops.end()) continue;
    const auto same = std::find_if(reference.samples.begin(), reference.samples.end(), [&](const HostSample& r) {
      return r.op == sample.op && r.pass == sample.pass && r.device == sample.device;
    });
    if (same == reference.samples.end() || sample.time <= Seconds(0.0) || same->time <= Seconds(0.0)) continue;
    if (speed.framework && std::min(sample.time, same->time) < kShortest) continue;
    const double logarithm = std::log(same->time / sample.time);
    sum += logarithm;
    squares += logarithm * logarithm;
    ++speed.samples;
  }
  if (speed.samples == 0) return fail("the samples have nothing in common with the reference host's");
  const double n = speed.samples;
  speed.single_thread = std::exp(sum / n);
  if (speed.single_thread < kSlowest || speed.single_thread > kFastest)
    return fail(
        fmt::format("one thread at {:.3g} of the reference host's speed, which no CPU has: time_s is in seconds; were the "
                    "times taken in another unit?",
                    speed.single_thread));
  speed.spread = std::sqrt(std::max(0.0, squares / n - (sum / n) * (sum / n)));
  return speed;
}

}  // namespace tbdsim::calibrate
