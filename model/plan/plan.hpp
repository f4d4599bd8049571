#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/plan/plan_counts.hpp"
#include "model/plan/plan_options.hpp"
#include "model/prediction/predict.hpp"

namespace tbdsim::plan {

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

struct PlanPart;

struct Plan {
  std::vector<PlanRow> rows;  ///< best first; of several machines or numbers of GPUs the best layout of each
  PlanCounts counts;
  bool several = false;                 ///< machines or numbers of GPUs
  bool interrupted = false;             ///< before all layouts were tried
  std::vector<std::string> problems{};  ///< machines or numbers of GPUs that cannot train it, and why
  std::vector<std::string> notices{};   ///< what was taken in place of what was left out, or left out of what was given
  std::optional<CostTerms> terms{};     ///< of bought machines; absent: those of `predict`
  std::optional<PlanRow> yours{};       ///< the layout of `--layout-from`, whether or not it fits and keeps the limits
};

/// Searches all layouts of a job: tensor, context, expert and pipeline parallelism, virtual stages and schedule, micro-batch,
/// recomputation and sharding of states. Closed forms for all, recurrences for the nearest to the best, `predict` for the rows.
/// The result does not depend on the number of threads.
/// `joined`: what the parts of the search have found, in place of searching again.
/// Errors: as `predict` of the job; axes that are kept but leave no layout; a network that fits in none.
[[nodiscard]] Result<Plan> make_plan(Session& session, const PlanOptions& options, const PlanPart* joined = nullptr);

/// How much better one prediction is than another by an objective: 0.1 is 10 % less time, cost or energy; 0 where it is not
/// known.
[[nodiscard]] double advantage(const Prediction& prediction, const Prediction& over, Objective objective);

/// Whether some rows are bought and others rented: prices and rents are no measure of each other.
[[nodiscard]] bool paid_unlike(const std::vector<PlanRow>& rows);

}  // namespace tbdsim::plan
