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
  double fp32_lanes = 64;          ///< of one multiprocessor, as far as schedulers feed them or integers take them
  bool slow_integers = false;      ///< beside those lanes (`Architecture`)
  bool taps_apart = false;         ///< in weight gradients on tensor cores (`Architecture`)
  double step_overhead = 1.0;  ///< what a k-step or tile costs beside its products, in k-steps, against the boards of the samples
  Hertz translations{0.0};     ///< of addresses that the buffers do not hold; zero: no limit is known
  double issue_share = kIssueShare;  ///< of numbers moved one at a time
  double share = 1.0;                ///< of the peak, which `flops` has in it already
  double exponentials = 16;          ///< a clock and multiprocessor
  double cache_reach = 1.05;         ///< part of the last level up to which a working set stays there
  double warp_products = 1.0;        ///< share of the tensor rate that instructions of one warp reach
  FlopPerSecond peak{INFINITY};      ///< of the units at the clock that they keep: nothing executes faster
  // Of products on tensor cores since Ampere (pipelined_gemm.hpp):
  FlopPerSecond sustained{INFINITY};        ///< that the power limit lets long products keep
  Seconds power_time{0.0};                  ///< after which they do: of a benchmark that repeats one product a few times
  BytesPerSecond cache_bandwidth{0.0};      ///< of the last level
  Hertz boost{1e9};                         ///< clock of short kernels
  BytesPerSecond quantize_bandwidth{1e12};  ///< of the passes that turn 16-bit numbers into fp8
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
