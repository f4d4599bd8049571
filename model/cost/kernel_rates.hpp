#pragma once
#include <cmath>

#include "model/units/quantity.hpp"

namespace tbdsim {

/// Kernels that move numbers one at a time take some 20 integer instructions each (assumed; `single_access_time`): this share of
/// the rate at which the fewest conceivable, five, would be issued (address, load, conversion, store, check of the end).
inline constexpr double kFewestInstructions = 5.0, kIssueShare = kFewestInstructions / 20.0;

/// What one device sustains for one kernel family at one precision.
struct KernelRates {
  FlopPerSecond flops;       ///< peak x fitted efficiency
  BytesPerSecond bandwidth;  ///< memory bandwidth x fitted efficiency
  Seconds launch;            ///< start and drain of one kernel, back to back
  int multiprocessors = 1;
  Hertz clock{1e9};                ///< that chains of dependent instructions run at
  Bytes cache{0.0};                ///< last level; none known: nothing is kept
  double resident_threads = 2048;  ///< of one multiprocessor
  double fp32_lanes = 64;          ///< of one multiprocessor
  double step_overhead = 1.0;  ///< what a k-step or tile costs beside its products, in k-steps, against the boards of the samples
  Hertz translations{0.0};     ///< of addresses that the buffers do not hold; zero: no limit is known
  double issue_share = kIssueShare;  ///< of numbers moved one at a time
  FlopPerSecond peak{INFINITY};      ///< of the units at the clock that they keep: nothing executes faster
};

/// Every kernel takes `factor` times as long.
inline void slow_down(KernelRates& rates, double factor) {
  rates.flops = rates.flops / factor;
  rates.bandwidth = rates.bandwidth / factor;
  rates.launch *= factor;
  rates.clock = rates.clock / factor;
  rates.translations = rates.translations / factor;
}

}  // namespace tbdsim
