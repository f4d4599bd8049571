#include "model/prediction/epoch.hpp"

#include <algorithm>
#include <cassert>

namespace tbdsim {
namespace {

constexpr Seconds kHour{3600.0};

}  // namespace

EpochEstimate estimate_epochs(const Prediction& prediction, std::int64_t samples, int epochs) {
  assert(samples >= 1 && epochs >= 1);
  EpochEstimate estimate;
  estimate.samples = samples;
  estimate.epochs = epochs;
  estimate.steps = (samples + prediction.job.global_batch - 1) / prediction.job.global_batch;
  estimate.start_up = prediction.start_up;
  const auto steps = static_cast<double>(estimate.steps);
  const Ranged<Seconds>& step = prediction.step_time;
  // The first epoch may read what the others find in memory; they err alike.
  const auto& input = prediction.input_verdict;
  const Seconds later = input && input->later_step ? std::min(*input->later_step, step.value) : step.value;
  const double all = 1.0 + static_cast<double>(epochs - 1) * (later / step.value);
  const auto run = [&](double times, Seconds of_step) { return estimate.start_up + times * (steps * of_step); };
  estimate.epoch = {run(1.0, step.value), run(1.0, step.low), run(1.0, step.high)};
  estimate.total = {run(all, step.value), run(all, step.low), run(all, step.high)};
  if (prediction.cost.hour) estimate.cost = *prediction.cost.hour * (estimate.total.value / kHour);
  return estimate;
}

}  // namespace tbdsim
