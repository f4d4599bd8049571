#pragma once
#include "model/configuration/session.hpp"
#include "model/prediction/prediction.hpp"

namespace tbdsim {

/// Which steps of a run are recorded: none before `skip` are over, then `iterations`.
struct ProfilingPlan {
  int skip = 50, iterations = 3;
};

/// What it takes to profile a job on the machine that is predicted.
struct ProfilingCost {
  ProfilingPlan plan;
  // The first step, in which the framework tries convolution algorithms.
  int shapes = 0;   ///< distinct convolutions and passes
  int trials = 0;   ///< algorithms tried on them
  Seconds warm_up;  ///< that the trials add to the first step
  Seconds before;   ///< start-up, first step and skipped steps
  // A record of every kernel.
  int kernels = 0;         ///< launches of one GPU in a step
  Ranged<Seconds> traced;  ///< a step while kernels are recorded
  Bytes trace_per_step;    ///< of one GPU
  // Counters, for which every kernel runs alone and again.
  Ranged<Seconds> replayed;  ///< a step with one pass per kernel more than the first
};

/// Cost of profiling, from `prediction` made with `detail` for the same options.
///
/// Trials: each algorithm that the stack offers for a pass and that exists for the shape runs once, as the library's search
/// does. Steady steps are alike: what is recorded does not depend on `skip` beyond the first.
/// Tracing: a record of a kernel and one of its launch, and host time for each, which only shows where the host is late.
/// Replay: each kernel twice, alone, what it may have written restored between: at least the bytes it moves, at most
/// everything that is allocated, at the bandwidth of the device's memory.
/// Errors: as `predict`; a plan below 0 or without steps.
[[nodiscard]] Result<ProfilingCost> profiling_cost(Session& session, const PredictOptions& options, const Prediction& prediction,
                                                   ProfilingPlan plan);

}  // namespace tbdsim
