#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/plan/plan_options.hpp"

namespace tbdsim::plan {

/// What a plan searches: one job for each machine and number of GPUs.
struct PlanJobs {
  PlanOptions options;  ///< without what was named twice
  std::vector<PredictOptions> all;
  std::optional<PredictOptions> yours{};  ///< the layout of `--layout-from`
};

/// Reads the options of a plan. `notices` says what is left out. Errors: an axis, a change or a schedule that a plan does not
/// take; no samples of an update; limits of a run without its tokens; a price list that cannot be read.
[[nodiscard]] Result<PlanJobs> plan_jobs(Session& session, const PlanOptions& options, std::vector<std::string>& notices);

/// Rows of one job: all that are asked for, or of several jobs the best.
[[nodiscard]] std::size_t rows_of_job(const PlanOptions& options, bool several);
/// Layouts of a job that a search keeps, fastest first.
[[nodiscard]] std::size_t kept_layouts(const PlanOptions& options, bool several);

/// The axes that are kept, in words: "tensor-parallel 16, pipeline-parallel 64"; empty: none.
[[nodiscard]] std::string kept_text(const PredictOptions& job);

}  // namespace tbdsim::plan
