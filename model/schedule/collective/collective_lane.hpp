#pragma once
#include <vector>

#include "model/schedule/collective/collective.hpp"
#include "model/schedule/step_builder.hpp"

namespace tbdsim {

/// Calls of one collective in a step: each is a flow over the links of its plan, on a stream of the caller's.
class CollectiveLane {
 public:
  explicit CollectiveLane(CollectivePlan plan) : plan_(std::move(plan)) {}

  [[nodiscard]] const CollectivePlan& plan() const { return plan_; }
  /// Once per step: adds the plan's links, those that other plans of the step also use only once.
  void prepare(StepBuilder& builder);
  /// `task` says what the call stands for.
  engine::TaskId call(StepBuilder& builder, StepTask task, engine::StreamId stream, Bytes message,
                      std::span<const engine::TaskId> after);

 private:
  CollectivePlan plan_;
  std::vector<engine::LinkId> links_;   // of the plan
  std::vector<engine::LinkUse> route_;  // of the call being added
};

}  // namespace tbdsim
