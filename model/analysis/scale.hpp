#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/analysis/predict.hpp"

namespace tbdsim {

/// How the work grows with the machine.
enum class Scaling {
  strong,              ///< the data set and the batch per GPU stay: larger steps, fewer of them
  fixed_global_batch,  ///< the data set and the batch of all GPUs stay: smaller steps (of a pipeline the same), as many
  weak                 ///< the data set grows with the GPUs, the batch per GPU stays: larger steps, as many of them
};
[[nodiscard]] std::string_view name(Scaling scaling);

struct ScaleOptions {
  PredictOptions job;            ///< without counts; with `fixed_global_batch`, `job.batch` is that of all GPUs
  std::vector<int> gpus, nodes;  ///< every pair of one of each; either may be empty, not both
  std::int64_t samples = 0;      ///< of one epoch; on one GPU with `weak`
  Scaling scaling = Scaling::strong;
};

/// One size of the machine.
struct ScaleRow {
  int gpus = 1, nodes = 1, batch_per_gpu = 1;
  Ranged<Seconds> step_time;
  Ranged<Seconds> epoch_time;  ///< start-up of the run included
  Ranged<double> speedup;      ///< samples per second of a whole epoch against one GPU
  double efficiency = 1;       ///< speed-up over GPUs
  Stages stages;
  Limit limit;
};

struct ScaleStudy {
  Prediction one;             ///< on one GPU, against which everything is held
  Ranged<Seconds> one_epoch;  ///< on it
  std::int64_t samples = 0;
  Scaling scaling = Scaling::strong;
  std::vector<ScaleRow> rows;  ///< in the order asked for
  std::vector<std::string> notices;
};

/// Predicts every size and one GPU, with the same options.
/// Errors: as `predict`, with the size at which they arise; no samples; a global batch that does not divide; a data set that
/// grows with the stages of a pipeline.
[[nodiscard]] Result<ScaleStudy> scale(Session& session, const ScaleOptions& options);

}  // namespace tbdsim
