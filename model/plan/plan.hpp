#pragma once
#include <atomic>
#include <string>
#include <vector>

#include "model/configuration/study_grid.hpp"
#include "model/plan/plan_counts.hpp"
#include "model/prediction/predict.hpp"
#include "model/prediction/run/run_limits.hpp"
#include "model/study/ownership.hpp"

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
  bool by_run = false;                      ///< rank by the run's time with all interruptions, in place of the objective
  int top = 10;                             ///< rows
  std::size_t shard = 0, shards = 1;        ///< only this part of the layouts
  bool every_schedule = false;              ///< also those that the framework lacks
  const std::atomic<bool>* stop = nullptr;  ///< set while it searches: what has been found is told
};

/// Layouts like one of the rows but for their virtual stages, which have no rows of their own.
struct Folded {
  std::vector<int> virtual_stages;  ///< fastest first
  double behind = 0.0;              ///< most that they give up against the row
};

/// One layout, predicted.
struct PlanRow {
  PredictOptions options;
  Prediction prediction;
  double behind = 0.0;  ///< what it gives up by the objective against the best: 0.05 is 5 %
  bool front = true;    ///< no other row is better in time, cost and energy together
  std::optional<RunEstimate> run{};
  bool apart = true;      ///< false: the range of its speed-up over the best holds 1
  std::string variant{};  ///< which values of `PlanOptions::tried` it has: "fp8"; empty: nothing is tried
  Folded folded{};
};

struct Plan {
  std::vector<PlanRow> rows;  ///< best first; of several machines or numbers of GPUs the best layout of each
  PlanCounts counts;
  bool several = false;                 ///< machines or numbers of GPUs
  bool interrupted = false;             ///< before all layouts were tried
  std::vector<std::string> problems{};  ///< machines or numbers of GPUs that cannot train it, and why
};

/// Searches all layouts of a job: tensor, context, expert and pipeline parallelism, virtual stages and schedule, micro-batch,
/// recomputation and sharding of states. Closed forms for all, recurrences for the nearest to the best, `predict` for the rows.
/// The result does not depend on the number of threads.
/// Errors: as `predict` of the job; axes that are kept but leave no layout; a network that fits in none.
[[nodiscard]] Result<Plan> make_plan(Session& session, const PlanOptions& options);

/// How much better one prediction is than another by an objective: 0.1 is 10 % less time, cost or energy; 0 where it is not
/// known.
[[nodiscard]] double advantage(const Prediction& prediction, const Prediction& over, Objective objective);

/// The command that predicts a row.
[[nodiscard]] std::string predict_command(const PredictOptions& options);

}  // namespace tbdsim::plan
