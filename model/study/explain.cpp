#include "model/study/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/configuration/choose_input.hpp"
#include "model/configuration/configure.hpp"
#include "model/configuration/network_notices.hpp"
#include "model/configuration/session.hpp"
#include "model/configuration/what_if.hpp"
#include "model/stack/stack.hpp"
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
                                  below("waiting for input", p.phases.input_exposed / step, kWaitsTooLong),
                                  below("waiting for the exchange", p.phases.exchange_exposed / step, kWaitsTooLong),
                                  below("waiting for the host", p.phases.host_exposed / step, kWaitsTooLong)};
  if (p.phases.bubble > Seconds(0.0)) checks.push_back(below("waiting for other stages", p.phases.bubble / step, kWaitsTooLong));
  if (p.phases.offload > Seconds(0.0)) checks.push_back(below("waiting for the offload", p.phases.offload / step, kWaitsTooLong));
  return checks;
}

/// What a prediction says of a changed value that does nothing: "since ...". `known`: what is said without the change, too.
std::string why_without_effect(const std::vector<std::string>& notices, const std::vector<std::string>& known) {
  for (const std::string& notice : notices)
    if (std::string reason = no_effect_reason(notice);
        !reason.empty() && std::find(known.begin(), known.end(), notice) == known.end())
      return reason;
  return "";
}

/// What a prediction says that a changed value does beside what it is: the text after "--set KEY=VALUE: ".
std::string note_of(const WhatIf& what_if, const Prediction& prediction) {
  for (const std::string& set : what_if.set) {
    const std::string start = fmt::format("{} {}: ", kAssignments, set);
    for (const std::string& notice : prediction.notices)
      if (notice.starts_with(start) && no_effect_reason(notice).empty()) return notice.substr(start.size());
  }
  return "";
}

/// A change with the job that it makes of the base's.
struct Trial {
  WhatIf what_if;
  PredictOptions changed;
};

/// How much of the base's critical path a change of the hardware relieves.
double relieved_share(const WhatIf& what_if, const Prediction& base) {
  double share = 0.0;
  for (const Limit& limit : base.limits)
    share += std::count(what_if.relieves.begin(), what_if.relieves.end(), limit.resource) > 0 ? limit.share : 0.0;
  return share;
}

/// That a change of the hardware changes next to nothing, and what it relieves.
std::string next_to_nothing(const WhatIf& what_if, double share) {
  std::vector<std::string_view> names;
  for (const Resource resource : what_if.relieves) names.push_back(name(resource));
  return fmt::format("changes throughput by less than {:.1f} %; relieves {}, {:.0f} % of the critical path",
                     100.0 * kWorthAChange, fmt::join(names, ", "), 100.0 * share);
}

/// Whether a change is another way to exchange gradients.
bool changes_exchange(const WhatIf& what_if) {
  return std::any_of(what_if.set.begin(), what_if.set.end(),
                     [](const std::string& set) { return set.starts_with("parallel.exchange="); });
}

bool runs_on(const Stack& stack, const Device& device) {
  return (!device.vendor || stack.vendor == *device.vendor) &&
         (device.compute_capability.empty() ||
          capability_number(device.compute_capability) >= capability_number(stack.minimum_compute_capability));
}

/// The workers by which a job that names none loads with as many threads under a later stack as under its own. Nothing: it does
/// so anyway.
std::optional<int> kept_workers(const PredictOptions& options, const Configuration& configuration, const Stack& later) {
  if (options.workers || !configuration.pipeline || configuration.environments) return std::nullopt;
  const Stack& stack = configuration.stack;
  const Host& host = configuration.hardware().host;
  const int threads = usual_threads(stack.input, host), loaders = configuration.pipeline->loaders;
  const bool alike = stack.features.loader_per_rank == later.features.loader_per_rank && threads % loaders == 0;
  return alike && threads != usual_threads(later.input, host) ? std::optional(threads / loaders) : std::nullopt;
}

/// Changes that depend on what the catalogue holds: the newest release of the framework, channels last where it has a stack of
/// its own for them, the newest NCCL.
std::vector<Trial> newer_software(Session& session, const PredictOptions& options) {
  std::vector<Trial> trials;
  const auto configuration = configure(session, options);
  if (!configuration) return trials;
  const Stack& stack = configuration->stack;
  const Device& device = configuration->hardware().device;
  bool plain = false, last = stack.operators.order.channels_last;
  for (const std::string& id : later_stacks(session.catalogue().root, stack.id)) {
    const auto later = session.stack(id);
    if (!*later || !runs_on(**later, device)) continue;
    const bool channels_last = (*later)->operators.order.channels_last;
    bool& tried = channels_last ? last : plain;
    if (tried || ((*later)->version == stack.version && !channels_last)) continue;
    // Other variants (fusing compilers, optimisers) are other programs.
    if (!(*later)->variant.empty() && !channels_last) continue;
    tried = true;
    PredictOptions changed = options;
    changed.stack = id;
    std::string option = "--stack " + id;
    // Samples that the old stack loads unasked are still loaded, by as many workers.
    if (options.input.empty() && configuration->pipeline && configuration->input == stack.input.name) {
      changed.input = configuration->input;
      option += " --input " + changed.input;
    }
    if (const auto workers = kept_workers(options, *configuration, **later)) {
      changed.workers = workers;
      option += fmt::format(" --workers {}", *workers);
    }
    trials.push_back(
        {{option, channels_last ? "a stack with channels last" : "a newer release of the framework", {}}, std::move(changed)});
  }
  const auto library = session.nccl("", device.architecture);
  if (!stack.nccl.empty() && *library) {
    PredictOptions changed = options;
    const std::string set = fmt::format("stack.nccl={}", (*library)->newest);
    changed.set.push_back(set);
    trials.push_back({{"--set " + set, "the newest NCCL", {}}, std::move(changed)});
  }
  return trials;
}

WhatIfOutcome outcome_of(Session& session, const Trial& trial, const Prediction& base) {
  WhatIfOutcome outcome{trial.what_if.name, trial.what_if.text, trial.what_if.hardware(), 0.0, true, {}, {}, {}};
  if (trial.what_if.narrows && base.job.precision != name(Precision::fp32) && base.job.precision != name(Precision::tf32)) {
    outcome.problem = outcome.reason = fmt::format("the job computes in {} already", base.job.precision);
    return outcome;
  }
  if (changes_exchange(trial.what_if) && base.job.gpus == 1) {
    outcome.problem = outcome.reason = "one GPU exchanges nothing";
    return outcome;
  }
  if (trial.what_if.loads_as_well && base.limit.resource == Resource::input) {
    outcome.problem = outcome.reason = "the job waits for its loader";
    return outcome;
  }
  const auto prediction = predict(session, trial.changed);
  if (!prediction) {
    outcome.problem = prediction.error().front().message;
    return outcome;
  }
  outcome.gain = prediction->throughput.value / base.throughput.value - 1.0;
  outcome.fits = prediction->memory.fits;
  outcome.step_time = prediction->step_time;
  outcome.limit = prediction->limit;
  outcome.reason = why_without_effect(prediction->notices, base.notices);
  outcome.note = note_of(trial.what_if, *prediction);
  const bool alike = std::abs(outcome.gain) < kWorthAChange && outcome.fits == base.memory.fits;
  const double share = relieved_share(trial.what_if, base);
  // Where the job waits for what the hardware relieves, a reason why it does not help says more.
  outcome.cannot_help = outcome.hardware && alike && (outcome.reason.empty() || share < kWorthAChange);
  if (outcome.cannot_help) outcome.problem = next_to_nothing(trial.what_if, share);
  return outcome;
}

/// `now` with what `trial` changes of `options`. Nothing: one contradicts the other.
std::optional<PredictOptions> changed_too(PredictOptions now, const PredictOptions& options, const PredictOptions& trial) {
  if (trial.stack != options.stack) {
    now.stack = trial.stack;
    now.input = trial.input;
    now.workers = trial.workers;
  }
  for (std::size_t i = options.set.size(); i < trial.set.size(); ++i) {
    if (!contradiction(now.set, trial.set[i]).empty()) return std::nullopt;
    now.set.push_back(trial.set[i]);
  }
  return now;
}

std::optional<CombinedSettings> combine(Session& session, const PredictOptions& options, const Prediction& base,
                                        const std::vector<Trial>& trials, const std::vector<WhatIfOutcome>& by_gain) {
  CombinedSettings combined;
  combined.fits = base.memory.fits;
  PredictOptions now = options;
  for (const WhatIfOutcome& outcome : by_gain) {
    if (!outcome.problem.empty() || outcome.hardware || outcome.gain < kWorthAChange) continue;
    const auto trial = std::find_if(trials.begin(), trials.end(), [&](const Trial& t) { return t.what_if.name == outcome.name; });
    auto changed = changed_too(now, options, trial->changed);
    if (!changed) continue;
    const auto prediction = predict(session, *changed);
    if (!prediction || (combined.fits && !prediction->memory.fits)) continue;
    const double gain = prediction->throughput.value / base.throughput.value - 1.0;
    if (1.0 + gain < (1.0 + kWorthAChange) * (1.0 + combined.gain)) continue;
    now = std::move(*changed);
    combined.options.push_back(outcome.name.starts_with("--") ? outcome.name : "--what-if " + outcome.name);
    combined.gain = gain;
    combined.fits = prediction->memory.fits;
    combined.step_time = prediction->step_time;
    combined.limit = prediction->limit;
  }
  return combined.options.size() < 2 ? std::nullopt : std::optional(std::move(combined));
}

}  // namespace

Result<Explanation> explain(Session& session, const PredictOptions& options, Progress* progress) {
  auto base = predict(session, options);
  if (!base) return tl::make_unexpected(base.error());
  Explanation explanation{std::move(*base), {}, {}, {}};
  explanation.checks = health(explanation.base);
  std::vector<Trial> trials = newer_software(session, options);
  for (const WhatIf& what_if : what_ifs()) {
    PredictOptions changed = options;
    changed.set.insert(changed.set.end(), what_if.set.begin(), what_if.set.end());
    trials.push_back({what_if, std::move(changed)});
  }
  std::vector<WhatIfOutcome> outcomes(trials.size());
  begin(progress, "changes", trials.size());
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < trials.size(); ++i) {
    outcomes[i] = outcome_of(session, trials[i], explanation.base);
    add_one(progress);
  }
  for (WhatIfOutcome& outcome : outcomes) {
    if (outcome.problem.empty() && std::abs(outcome.gain) < kNoChange && outcome.fits == explanation.base.memory.fits)
      outcome.problem =
          "changes nothing here" + (outcome.reason.empty() ? ": " + explanation.base.limit.text : ", " + outcome.reason);
  }
  std::stable_sort(outcomes.begin(), outcomes.end(), [](const WhatIfOutcome& a, const WhatIfOutcome& b) {
    if (a.problem.empty() != b.problem.empty()) return a.problem.empty();
    return a.gain > b.gain;
  });
  explanation.combined = combine(session, options, explanation.base, trials, outcomes);
  explanation.what_ifs = std::move(outcomes);
  if (explanation.base.division.by_layers)
    explanation.layouts = neighbouring_layouts(session, options, explanation.base, progress);
  return explanation;
}

}  // namespace tbdsim
