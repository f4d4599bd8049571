#pragma once
#include <string_view>
#include <vector>

#include "model/prediction/prediction.hpp"

namespace tbdsim {

/// What the time of a step goes to, one part for each way to change it.
enum class StepPartKind {
  compute,    ///< kernels of forward and backward, of the mean stage
  imbalance,  ///< what the slowest stage and the slowest GPU compute beyond the mean
  recompute,  ///< forward kernels that backward runs again
  update,     ///< of weights
  bubble,     ///< of a pipeline
  tensor,     ///< collectives along an axis that are waited for
  context,
  expert,
  data,
  pipeline,
  input,    ///< waiting for samples
  host,     ///< waiting for operators to be issued
  offload,  ///< waiting for what lies on the host
};
struct StepPartInfo {
  StepPartKind kind;
  std::string_view name, text;
};
[[nodiscard]] const StepPartInfo& info(StepPartKind kind);
[[nodiscard]] inline std::string_view name(StepPartKind kind) { return info(kind).name; }

struct StepPart {
  StepPartKind kind = StepPartKind::compute;
  Seconds time;
  double share = 0;  ///< of the step; all shares sum to 1
};

/// The parts of a step that was simulated layer by layer, longest first, without those that take no time. The times are those of
/// the slowest rank and sum to the step.
[[nodiscard]] std::vector<StepPart> step_parts(const Prediction& prediction);

}  // namespace tbdsim
