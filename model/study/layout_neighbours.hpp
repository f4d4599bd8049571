#pragma once
#include <string>
#include <vector>

#include "model/prediction/predict.hpp"
#include "model/support/progress.hpp"

namespace tbdsim {

/// A layout that differs in one thing, and what it is predicted to bring.
struct LayoutOutcome {
  std::string options;  ///< that make the change: "--tensor-parallel 4"
  std::string changes;  ///< in words: "tensor 4"
  double gain = 0.0;    ///< throughput over that of the base, minus 1
  bool fits = true;
  Bytes peak;  ///< of the fullest GPU
  Ranged<Seconds> step_time;
  std::string problem;  ///< why the job cannot have it; then the figures are empty
  std::string note;     ///< what the framework lacks for it; else empty
};

/// Every layout that differs from that of `base` in one thing, on as many GPUs and with the same global batch: each axis twice
/// and half as wide, twice and half as many virtual stages, twice and half the micro-batch, each other recomputation, ZeRO stage
/// and schedule, sequence parallelism. Best first, those that do not fit in memory after those that do, those that cannot be
/// last.
[[nodiscard]] std::vector<LayoutOutcome> neighbouring_layouts(Session& session, const PredictOptions& options,
                                                              const Prediction& base, Progress* progress = nullptr);

}  // namespace tbdsim
