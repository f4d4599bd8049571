#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "model/support/result.hpp"
#include "model/trace/trace.hpp"

namespace tbdsim::trace {

/// The steps of a trace, on the clock of one device.
struct Iterations {
  std::int32_t device = 0;  ///< whose events are looked at: the one with the longest busy time
  int devices = 1;          ///< in the trace
  std::vector<Span> steps;  ///< each from its first event to that of the next, in order; they meet unless some are left out
  /// Events (indices into the trace's) with which each step begins, and with which the next one does; the number of events: none.
  /// Empty where steps are marks of the host alone.
  std::vector<std::size_t> first, next;
  bool whole = false;   ///< nothing tells steps apart: one is all of the trace
  bool marked = false;  ///< by the program; else found by repetition
  int left_out = 0;     ///< parts between steps that ran something else
};

/// Finds the steps: by the marks of the program (`ProfilerStep`, NVTX ranges named step or iteration), each from the first event
/// that was issued within it; else by what the busiest stream repeats; else, of tools that record one step, all of it. The last
/// marked step ends where what was issued in it ends, and counts only where it is the only one. Errors: neither marks nor a
/// repetition.
[[nodiscard]] Result<Iterations> find_steps(const Trace& trace, const std::string& name);

}  // namespace tbdsim::trace
