#include "model/plan/replan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/configuration/what_if.hpp"
#include "model/plan/plan_costs.hpp"
#include "model/schedule/pipeline/schedule_kind.hpp"

namespace tbdsim::plan {
namespace {

/// Changes of the cluster, as `--what-if` names them.
constexpr const char* kClusters[] = {"nvlink-2x", "network-2x", "gpu-memory-2x", "gpu-memory-bandwidth-2x", "compute-2x"};

struct Change {
  std::string text;
  PlanOptions options;
};

std::vector<Change> changes(const PlanOptions& options, const Prediction& best) {
  std::vector<Change> all;
  for (const char* const name : kClusters) {
    const auto what_if = find_what_if(name);
    if (!what_if) continue;
    Change change{what_if->text, options};
    change.options.job.set.insert(change.options.job.set.end(), what_if->set.begin(), what_if->set.end());
    all.push_back(std::move(change));
  }
  // GPUs in reach of each other; each row of a plan says its layout.
  Change domain{"NVLink domains of twice as many GPUs", options};
  domain.options.job.set.emplace_back("hw.joined_nodes=2");
  all.push_back(std::move(domain));
  if (best.job.precision != name(Precision::fp8) && best.job.precision != name(Precision::mxfp8)) {
    Change eight{"products in 8 bits (fp8)", options};
    eight.options.job.precision = "fp8";
    all.push_back(std::move(eight));
  }
  const bool kept = std::any_of(options.keep.begin(), options.keep.end(),
                                [](const std::string& axis) { return axis.starts_with("schedule="); });
  if (!kept && options.job.schedule.empty()) {
    Change schedules{"all schedules of pipelines, also those that the framework lacks", options};
    schedules.options.every_schedule = true;
    all.push_back(std::move(schedules));
  }
  return all;
}

}  // namespace

std::vector<Replanned> replan(Session& session, const PlanOptions& options, const Plan& plan) {
  const PlanRow& best = plan.rows.front();
  std::vector<Replanned> all;
  for (Change& change : changes(options, best.prediction)) {
    change.options.top = 1;
    Replanned one{change.text, {}, 0.0, 0.0, {}};
    if (options.stop != nullptr && options.stop->load()) {
      one.problem = "not planned, since interrupted";
      all.push_back(std::move(one));
      continue;
    }
    auto again = make_plan(session, change.options);
    if (again) {
      one.gain = advantage(again->rows.front().prediction, best.prediction, options.objective);
      PredictOptions same = best.options;
      same.set = change.options.job.set;
      if (!change.options.job.precision.empty()) same.precision = change.options.job.precision;
      if (auto as_was = predict(session, same)) {
        if (plan.terms) put_on_terms(*as_was, *plan.terms);
        one.unplanned = advantage(*as_was, best.prediction, options.objective);
      }
      if (again->interrupted) one.change += " (interrupted)";
      one.best.push_back(std::move(again->rows.front()));
    } else {
      one.problem = again.error().front().message;
    }
    all.push_back(std::move(one));
  }
  std::stable_sort(all.begin(), all.end(), [](const Replanned& a, const Replanned& b) { return a.gain > b.gain; });
  return all;
}

}  // namespace tbdsim::plan
