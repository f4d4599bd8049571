#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/configuration/configuration.hpp"
#include "model/hardware/operations.hpp"
#include "model/prediction/prediction.hpp"
#include "model/prediction/run/goodput.hpp"

namespace tbdsim {

/// One thing that is assumed of a run: its key for `--set`, its value as text, where it is from.
struct RunAssumption {
  std::string key, value, source;
};

/// A run over so many tokens at a predicted step time: how long it takes with all interruptions, what it draws and costs.
struct RunEstimate {
  double tokens = 0.0;
  std::int64_t steps = 0;    ///< the last one counts whole
  Ranged<Seconds> training;  ///< steps alone
  Ranged<Seconds> elapsed;   ///< with interruptions: training over goodput, and start-up
  Goodput goodput;
  double interruptions = 0.0;    ///< expected
  std::int64_t checkpoints = 0;  ///< written
  int spares = 0;                ///< hosts beside those that train
  bool whole_nodes = true;       ///< a host is a node, not a part of one
  std::optional<Watts> power;    ///< of the building on average; absent without a power limit of the GPU
  std::optional<Joules> energy;
  std::optional<double> carbon_grams;
  std::optional<Usd> cost;  ///< of all nodes, spares too, by the reckoning of `Prediction::price`
  std::vector<RunAssumption> assumptions;
};

/// Expects tokens above 0. `checkpoint` is the size of one (`checkpoint_bytes`). Errors: a network that takes no tokens; a job
/// that is interrupted faster than it gets on.
[[nodiscard]] Result<RunEstimate> estimate_run(const Prediction& prediction, const Operations& operations, Bytes checkpoint,
                                               double tokens);

/// Bytes of a checkpoint: weights, in fp32 where the update keeps them so, and the optimiser's states. The same however the job
/// is divided.
[[nodiscard]] Bytes checkpoint_bytes(const Configuration& job, const Operations& operations);

/// The estimate of a job that was predicted from `options`, with what they change of the assumptions.
[[nodiscard]] Result<RunEstimate> estimate_run(Session& session, const PredictOptions& options, const Prediction& prediction,
                                               double tokens);

}  // namespace tbdsim
