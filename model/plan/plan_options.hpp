#pragma once
#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/configuration/study_grid.hpp"
#include "model/prediction/predict.hpp"
#include "model/prediction/run/run_limits.hpp"
#include "model/study/ownership.hpp"
#include "model/support/progress.hpp"

namespace tbdsim::plan {

/// What is asked: the best ways to train a network.
struct PlanOptions {
  PredictOptions job;                 ///< an axis that is given is kept; `global_batch` says the samples of an update
  std::vector<std::string> keep;      ///< axes and their values, "pipeline-parallel=8"
  std::vector<std::string> hardware;  ///< in place of the job's, each in turn
  std::vector<int> gpus;              ///< the same
  std::vector<GridAxis> tried{};      ///< options that are no axes, with values of which all combinations are searched
  std::vector<std::string> values{};  ///< the same for keys of input files: "stack.parallel.overlaps_gradients=true,false"
  Objective objective = Objective::time;
  std::optional<double> tokens{};           ///< of a run: its days, energy and cost are told, too
  RunLimits limits{};                       ///< of that run
  std::optional<CostTerms> terms{};         ///< on which bought machines are paid for; cooling is that of runs
  bool by_run = false;                      ///< rank by the run's time with all interruptions, in place of the objective
  int top = 10;                             ///< rows
  std::size_t shard = 0, shards = 1;        ///< only this part of the layouts
  bool every_schedule = false;              ///< also those that the framework lacks
  const std::atomic<bool>* stop = nullptr;  ///< set while it searches: what has been found is told
  Progress* progress = nullptr;             ///< told how far the search is
};

}  // namespace tbdsim::plan
