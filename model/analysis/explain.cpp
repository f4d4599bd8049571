#include "model/analysis/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/analysis/session.hpp"
#include "model/analysis/what_if.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

// What counts as healthy (assumed, rules of thumb of performance engineers): shares of the step, of the capacity, of the cores.
constexpr double kBusyEnough = 0.90, kMemoryFull = 0.95, kCpuFull = 0.90, kRateFull = 0.90, kWaitsTooLong = 0.10;
/// Less than this is rounding, not a change.
constexpr double kNoChange = 1e-9;

HealthCheck at_least(const std::string& name, double value, double bound) {
  return {name, value >= bound, fmt::format("{:.0f} %, at least {:.0f} % is healthy", 100.0 * value, 100.0 * bound)};
}
HealthCheck below(const std::string& name, double value, double bound) {
  return {name, value < bound, fmt::format("{:.1f} %, below {:.0f} % is healthy", 100.0 * value, 100.0 * bound)};
}

/// The same of what may be unused or unknown.
HealthCheck below_if_used(const std::string& name, std::optional<double> value, double bound) {
  if (value) return below(name, *value, bound);
  return {name, true, "none: the step does not use it, or its size is not known"};
}

std::vector<HealthCheck> health(const Prediction& p) {
  double fullest = 0.0;
  for (const GpuMemory& gpu : p.memory.gpus) fullest = std::max<double>(fullest, gpu.peak / p.memory.capacity);
  const Seconds step = p.step_time.value;
  std::vector<HealthCheck> checks{at_least("GPU busy", p.utilization.gpu_busy, kBusyEnough),
                                  below("GPU memory used", fullest, kMemoryFull),
                                  below("CPU busy", p.utilization.cpu, kCpuFull),
                                  below_if_used("CPU memory used", p.loads.host_memory, kMemoryFull),
                                  below_if_used("network rate used", p.loads.network, kRateFull),
                                  below_if_used("storage rate used", p.loads.storage, kRateFull),
                                  below("waiting for input", p.stages.input_exposed / step, kWaitsTooLong),
                                  below("waiting for the exchange", p.stages.exchange_exposed / step, kWaitsTooLong),
                                  below("waiting for the host", p.stages.host_exposed / step, kWaitsTooLong)};
  if (p.stages.bubble > Seconds(0.0)) checks.push_back(below("waiting for other stages", p.stages.bubble / step, kWaitsTooLong));
  return checks;
}

/// What a prediction says of a changed value that does nothing: "since ...".
std::string why_without_effect(const std::vector<std::string>& notices) {
  constexpr std::string_view kSaying = ": without effect, ";
  for (const std::string& notice : notices) {
    if (const std::size_t at = notice.find(kSaying); at != std::string::npos) return notice.substr(at + kSaying.size());
  }
  return "";
}

WhatIfOutcome outcome_of(Session& session, const PredictOptions& options, const WhatIf& what_if, const Prediction& base) {
  WhatIfOutcome outcome{what_if.name, what_if.text, 0.0, true, {}, {}, {}};
  PredictOptions changed = options;
  changed.set.insert(changed.set.end(), what_if.set.begin(), what_if.set.end());
  const auto prediction = predict(session, changed);
  if (!prediction) {
    outcome.problem = prediction.error().front().message;
    return outcome;
  }
  outcome.gain = prediction->throughput.value / base.throughput.value - 1.0;
  outcome.fits = prediction->memory.fits;
  outcome.step_time = prediction->step_time;
  outcome.limit = prediction->limit;
  outcome.reason = why_without_effect(prediction->notices);
  return outcome;
}

}  // namespace

Result<Explanation> explain(Session& session, const PredictOptions& options) {
  auto base = predict(session, options);
  if (!base) return tl::make_unexpected(base.error());
  Explanation explanation{std::move(*base), {}, {}};
  explanation.checks = health(explanation.base);
  const std::vector<WhatIf>& all = what_ifs();
  std::vector<WhatIfOutcome> outcomes(all.size());
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < all.size(); ++i) outcomes[i] = outcome_of(session, options, all[i], explanation.base);
  for (WhatIfOutcome& outcome : outcomes) {
    if (outcome.problem.empty() && std::abs(outcome.gain) < kNoChange && outcome.fits == explanation.base.memory.fits)
      outcome.problem = outcome.reason.empty() ? "changes nothing here" : "changes nothing here, " + outcome.reason;
  }
  std::stable_sort(outcomes.begin(), outcomes.end(), [](const WhatIfOutcome& a, const WhatIfOutcome& b) {
    if (a.problem.empty() != b.problem.empty()) return a.problem.empty();
    return a.gain > b.gain;
  });
  explanation.what_ifs = std::move(outcomes);
  return explanation;
}

}  // namespace tbdsim
