#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "model/trace/iterations.hpp"
#include "model/trace/work_family.hpp"

namespace tbdsim::trace {

/// What a device does at a moment of a step. What is above counts first: copies beside kernels are no copies alone.
enum class Occupation {
  computes,    ///< at least one kernel runs
  exchanges,   ///< nothing but exchanges and copies: communication that is exposed
  copies,      ///< nothing but copies and fills
  waits_sync,  ///< idle: the host had waited for the device, and had not yet issued what runs next
  waits_host,  ///< idle: the host had not yet issued what runs next
  waits_start  ///< idle: what runs next had been issued, and was on its way or waited for another stream; or nobody tells when
};
inline constexpr std::size_t kOccupations = 6;
[[nodiscard]] std::string_view name(Occupation occupation);

/// Events of one family, layer or kernel.
struct Part {
  std::string name;
  std::size_t count = 0;
  Nanoseconds time = 0;  ///< of all of them, however they overlap
};

/// Where the time of a trace goes. Times of the steps are of one device; all of them together, not the mean.
struct Breakdown {
  Iterations iterations;
  Nanoseconds steps_time = 0;                          ///< of all steps
  std::array<Nanoseconds, kOccupations> occupation{};  ///< its parts, which sum to it
  Nanoseconds events_time = 0;                         ///< of all events of all devices, in the whole trace
  std::vector<Part> whole;                             ///< of the whole trace by family; times sum to `events_time`
  std::vector<Part> families, layers, kernels;         ///< of events that begin in the steps, longest first
  [[nodiscard]] std::size_t steps() const { return iterations.steps.size(); }
  /// Mean.
  [[nodiscard]] double step_seconds() const { return 1e-9 * static_cast<double>(steps_time) / static_cast<double>(steps()); }
};

/// Breaks a trace down. `name` is what messages call it. Errors: as `find_steps`.
[[nodiscard]] Result<Breakdown> break_down(const Trace& trace, const std::string& name);

}  // namespace tbdsim::trace
