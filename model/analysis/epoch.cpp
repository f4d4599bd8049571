#include "model/analysis/epoch.hpp"

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
  estimate.steps = (samples + prediction.global_batch - 1) / prediction.global_batch;
  const auto steps = static_cast<double>(estimate.steps);
  const Ranged<Seconds>& step = prediction.step_time;
  estimate.epoch = {steps * step.value, steps * step.low, steps * step.high};
  const auto whole = [&](Seconds epoch) { return prediction.start_up + static_cast<double>(epochs) * epoch; };
  estimate.total = {whole(estimate.epoch.value), whole(estimate.epoch.low), whole(estimate.epoch.high)};
  if (prediction.usd_per_hour) estimate.cost = Usd(*prediction.usd_per_hour * (estimate.total.value / kHour));
  return estimate;
}

}  // namespace tbdsim
