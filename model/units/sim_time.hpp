#pragma once
#include <cmath>
#include <compare>
#include <cstdint>

#include "model/units/quantity.hpp"

namespace tbdsim {

/// A point on, or a span of, the simulation clock: whole picoseconds, so comparison is exact and a run of
/// 106 days fits. Durations are rounded once, to the nearest picosecond, where a task enters the engine.
struct SimTime {
  std::int64_t picoseconds = 0;

  /// Expects 0 <= t <= kLongest; a longer span is cut to it, so that the conversion itself cannot overflow.
  [[nodiscard]] static SimTime from(Seconds t) {
    return {static_cast<std::int64_t>(std::llround(std::fmin(t.base(), kLongestSeconds) * 1e12))};
  }
  static constexpr double kLongestSeconds = 9.2e6;  // 106 days
  [[nodiscard]] constexpr Seconds seconds() const { return Seconds(static_cast<double>(picoseconds) * 1e-12); }
  constexpr auto operator<=>(const SimTime&) const = default;
  constexpr SimTime& operator+=(SimTime o) {
    picoseconds += o.picoseconds;
    return *this;
  }
  friend constexpr SimTime operator+(SimTime a, SimTime b) { return {a.picoseconds + b.picoseconds}; }
  friend constexpr SimTime operator-(SimTime a, SimTime b) { return {a.picoseconds - b.picoseconds}; }
};

}  // namespace tbdsim
