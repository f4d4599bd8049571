#pragma once
#include <string>
#include <vector>

#include "model/plan/plan_options.hpp"

namespace tbdsim::plan {

/// What `--layout-from` says to a plan.
struct GivenLayout {
  PredictOptions job;    ///< with the settings of the file that are no axes; axes as the user keeps them
  PredictOptions yours;  ///< the file's layout, for `predict`
  std::vector<std::string> notices;
};

/// Reads the file of a plan of one machine and number of GPUs. Errors: several of these; as `fill_from_layout_file` and
/// `configure`.
[[nodiscard]] Result<GivenLayout> given_layout(Session& session, const PlanOptions& options);

}  // namespace tbdsim::plan
