#pragma once
#include <string>
#include <vector>

#include "model/plan/plan.hpp"

namespace tbdsim::plan {

/// A plan with one thing of the cluster or the job changed.
struct Replanned {
  std::string change;         ///< "twice the memory of each GPU"
  std::vector<PlanRow> best;  ///< one; none: it cannot be planned
  double gain = 0.0;          ///< over the best of the plan as asked, by the objective: 0.1 is 10 % less
  double unplanned = 0.0;     ///< the same if the layout stays as it was
  std::string problem;        ///< why there is none
};

/// What other clusters and settings would bring after planning again for each: links, network, memory and rate of GPUs twice as
/// large, products in 8 bits, schedules that the framework lacks. Largest gain first.
[[nodiscard]] std::vector<Replanned> replan(Session& session, const PlanOptions& options, const Plan& plan);

}  // namespace tbdsim::plan
