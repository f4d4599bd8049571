#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/decode/activity_log.hpp"

namespace tbdsim::calibrate {

/// Iterations found in a recording: training repeats the same kernels in the same order.
struct SteadyIterations {
  std::size_t first = 0;   ///< index of the first kernel of the first iteration that was asked for
  std::size_t period = 0;  ///< kernels, copies and fills per iteration
  int iterations = 0;
};

/// Finds the iterations `skip` .. `skip + iterations` of the part that repeats. Two activities are the same if kind, name
/// and grid agree. The period is the smallest that holds for 95 % of the last half of the recording.
/// Errors: fewer than three repetitions in the last half; fewer than `skip + iterations` iterations (says how many there are).
[[nodiscard]] Result<SteadyIterations> find_iterations(const ActivityLog& log, int skip, int iterations);

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

/// What the steady iterations say.
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
