#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/decode/activity_log.hpp"

namespace tbdsim::calibrate {

/// A stretch of the device's clock.
struct Window {
  std::int64_t start_ns = 0, end_ns = 0;
};

/// Iterations found in a recording: training repeats the same kernels, each from its first to that of the next.
struct SteadyIterations {
  std::vector<Window> windows;  ///< of those that were asked for, in order
  std::size_t kernels = 0;      ///< of the busiest stream, in a typical one
  int left_out = 0;             ///< between the first of all and the last: evaluations, checkpoints, changes of shape
  int every = 0;                ///< each iteration of this number runs more kernels than the others; 0: none does so regularly
  double more = 0;              ///< how many, in the mean
};

/// Which iterations are wanted.
struct IterationChoice {
  int skip = 0, iterations = 1;
  int passes = 1;  ///< forward and backward passes of one iteration: more than one where gradients are accumulated
};

/// Finds the iterations `skip` .. `skip + iterations` among those that are alike. Only kernels of the stream that runs most of
/// them are compared, by name and grid; copies and the kernels of other streams (collectives, prefetching) fall where they will.
/// Errors: no kernel; nothing that repeats three times in the last half; fewer than `skip + iterations` iterations (says how
/// many there are).
[[nodiscard]] Result<SteadyIterations> find_iterations(const ActivityLog& log, const IterationChoice& choice);

/// One kernel of the steady iterations.
struct KernelShare {
  std::string name;
  double calls = 0;  ///< per iteration
  Seconds mean;
  double share = 0;          ///< of the time of all kernels
  double occupancy = 0;      ///< mean of its launches, by time; 0 where nobody tells it
  bool tensor_core = false;  ///< its name holds a tensor-core instruction
};

/// Occupancy of one recorded kernel, 0 to 1.
using KernelOccupancy = std::function<double(const Activity&)>;

/// What the steady iterations say. A kernel counts where it starts; busy time is that inside the windows.
struct ProfileSummary {
  int iterations = 0;
  Seconds step;                      ///< mean time from one iteration's start to the next
  Seconds step_spread;               ///< standard deviation
  Seconds fastest, slowest;          ///< iteration
  double busy = 0;                   ///< share of the time in which at least one kernel runs
  double copying = 0;                ///< share in which a copy runs and no kernel
  double tensor_core = 0;            ///< share of kernel time in kernels that name a tensor-core instruction
  double launches = 0;               ///< kernels per iteration
  double occupancy = 0;              ///< mean over kernels, by time
  std::vector<KernelShare> kernels;  ///< largest share first
};
[[nodiscard]] ProfileSummary summarize(const ActivityLog& log, const SteadyIterations& steady,
                                       const KernelOccupancy& occupancy = {});

}  // namespace tbdsim::calibrate
