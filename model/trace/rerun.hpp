#pragma once
#include <array>

#include "model/trace/iterations.hpp"
#include "model/trace/work_family.hpp"

namespace tbdsim::trace {

/// How many times as long things take in another run of the same program.
struct Factors {
  std::array<double, 12> work;  ///< of each family, in the order of `work_families()`
  double host = 1.0;            ///< what the host spends between two calls
  Factors() { work.fill(1.0); }
};

/// Mean length of a step, in nanoseconds, if everything had taken as long as `factors` say.
///
/// Every event begins after what it followed in the trace: the event before it on its stream; the call that issued it; the event
/// of another stream that ended last before it began, where that was later than both. The time between stays. Exchanges also wait
/// for the kernel that was issued before them, updates for the exchanges that had ended before them. The host waits in its calls
/// for what it had waited for, and spends `host` times as long between its calls. So a run without changes gives the measured
/// step. Ignores: limits of the queue between host and device, kernels that run side by side slowing each other otherwise than
/// before.
[[nodiscard]] double rerun(const Trace& trace, const Iterations& iterations, const Factors& factors);

}  // namespace tbdsim::trace
