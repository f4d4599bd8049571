#include "calibrate/collect/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "calibrate/decode/sample_writer.hpp"

namespace tbdsim::calibrate {
namespace {

struct Outcome {
  std::vector<Seconds> times;
  Stop stop = Stop::go_on;
  bool throttled = false, slowed = false;
  GpuState state;
  std::string words;  ///< further flags
};

/// Runs rounds until the rule is content. Error: the driver's words, or nothing at all when the user interrupts.
tl::expected<Outcome, std::string> measure(GpuBench& gpu, PreparedKernel& kernel, const StoppingRule& rule,
                                           const CollectOptions& options) {
  Outcome outcome;
  if (auto warm_up = kernel.repeat(rule.least); !warm_up) return tl::make_unexpected(warm_up.error());
  while (outcome.stop == Stop::go_on) {
    if (options.interrupted()) return tl::make_unexpected(std::string());
    auto round = kernel.repeat(rule.least);
    if (!round) return tl::make_unexpected(round.error());
    if (round->empty()) return tl::make_unexpected(std::string("the device reported no time"));
    outcome.times.insert(outcome.times.end(), round->begin(), round->end());
    outcome.state = gpu.state();
    outcome.throttled = outcome.throttled || outcome.state.throttled;
    outcome.slowed = outcome.slowed || outcome.state.slowed;
    outcome.stop = decide(outcome.times, rule);
  }
  return outcome;
}

template <class Q>
std::optional<Q> median(std::vector<Q> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A product again and again for `length`: the first round is what short runs see; what counts is the second half, when power
/// and heat have settled. Error: as of `measure`.
tl::expected<Outcome, std::string> hold(GpuBench& gpu, PreparedKernel& kernel, Seconds length, const CollectOptions& options) {
  constexpr Seconds kRound(0.1);
  constexpr double kMostInRound = 2000.0;
  constexpr std::size_t kMostRounds = 10'000;  // should the clock stand still
  struct Round {
    Seconds end, time;
    GpuState state;
  };
  std::vector<Round> rounds;
  int count = 1;
  const Seconds start = options.clock();
  for (int warm_up = 0; warm_up < 2; ++warm_up) {  // the first run loads the kernel
    const auto alone = kernel.repeat(1);
    if (!alone) return tl::make_unexpected(alone.error());
    count = static_cast<int>(std::clamp<double>(kRound / alone->front(), 1.0, kMostInRound));
  }
  do {
    if (options.interrupted()) return tl::make_unexpected(std::string());
    const auto times = kernel.repeat(count);
    if (!times) return tl::make_unexpected(times.error());
    rounds.push_back({options.clock() - start, summarize(*times).median, gpu.state()});
  } while (rounds.back().end < length && rounds.size() < kMostRounds);
  Outcome outcome;
  outcome.stop = Stop::converged;
  outcome.state = rounds.back().state;
  std::vector<Hertz> clocks;
  std::vector<Watts> powers;
  for (const Round& round : rounds) {
    if (round.end < length / 2.0 && &round != &rounds.back()) continue;
    outcome.times.push_back(round.time);
    outcome.throttled = outcome.throttled || round.state.throttled;
    outcome.slowed = outcome.slowed || round.state.slowed;
    if (round.state.clock) clocks.push_back(*round.state.clock);
    if (round.state.power) powers.push_back(*round.state.power);
  }
  outcome.state.clock = median(std::move(clocks));
  outcome.state.power = median(std::move(powers));
  outcome.words = fmt::format("burst_s={:.6g}", rounds.front().time.base());
  if (const auto clock = rounds.front().state.clock) outcome.words += fmt::format(" burst_clock_mhz={:.0f}", clock->base() / 1e6);
  return outcome;
}

std::string flags_of(const Measurement& m, const Outcome& outcome, const Repetitions& repetitions, const PreparedKernel& kernel,
                     const GpuIdentity& identity) {
  std::vector<std::string> words;
  if (!m.cold)
    words.emplace_back("hot");
  else if (kernel.overwrites_cache())
    words.emplace_back("cold");
  const std::string own = kernel.flags();
  if (!own.empty()) words.push_back(own);
  if (!outcome.words.empty()) words.push_back(outcome.words);
  if (!identity.activity_records && own != kEventTiming) words.emplace_back(kEventTiming);
  if (m.sample.family == "softmax" || m.sample.family == "layer_norm") words.emplace_back(kStandIn);
  if (!m.sample.algorithm.empty()) words.emplace_back(kNamedAlgorithm);
  if (outcome.stop == Stop::out_of_time) words.emplace_back("noisy-time");
  if (outcome.stop == Stop::out_of_count) words.emplace_back("noisy-count");
  if (outcome.throttled) words.emplace_back("throttled");
  if (outcome.slowed) words.emplace_back(kHardwareSlowdown);
  if (repetitions.outliers > 0) words.push_back(fmt::format("outliers={}", repetitions.outliers));
  return fmt::format("{}", fmt::join(words, " "));
}

Sample complete(const Measurement& m, const Outcome& outcome, const PreparedKernel& kernel, const GpuIdentity& identity,
                const CollectOptions& options) {
  const Repetitions repetitions = summarize(outcome.times);
  Sample s = m.sample;
  s.device = options.device;
  s.time = repetitions.median;
  s.spread = repetitions.spread;
  s.call_timing = kernel.call_timing();
  s.algorithm = kernel.algorithm();
  s.layout = kernel.layout();
  s.clock = outcome.state.clock;
  s.memory_clock = outcome.state.memory_clock;
  s.power = outcome.state.power;
  s.driver = identity.driver;
  s.library = identity.libraries;
  s.date = options.date;
  s.flags = flags_of(m, outcome, repetitions, kernel, identity);
  s.source = fmt::format("measured: {}, median of {}", identity.name, outcome.times.size());
  return s;
}

}  // namespace

std::string key(const Sample& sample) {
  Measurement m{sample, shape_text(sample), !sample.flagged("hot")};
  if (!sample.flagged(kNamedAlgorithm)) m.sample.algorithm.clear();
  return key(m);
}

CollectSummary collect(GpuBench& gpu, const Plan& plan, const CollectOptions& options,
                       const std::function<void(const Sample&)>& take) {
  CollectSummary summary;
  const Seconds start = options.clock();
  CollectProgress progress;
  progress.all = plan.measurements.size();
  progress.budget = plan.budget;
  for (const Measurement& m : plan.measurements) {
    progress.elapsed = options.clock() - start;
    progress.now = &m;
    if (options.progress) options.progress(progress);
    ++progress.done;
    if (options.done.count(key(m)) != 0) {
      ++summary.already;
      continue;
    }
    summary.interrupted = summary.interrupted || options.interrupted();
    if (summary.interrupted || !summary.lost.empty() || progress.elapsed >= plan.budget) {
      ++summary.not_started;
      continue;
    }
    auto kernel = gpu.prepare(m);
    if (!kernel) {
      summary.left_out.push_back({key(m), kernel.error()});
      summary.lost = gpu.lost();
      continue;
    }
    const auto outcome = m.sample.family == kLoadFamily ? hold(gpu, **kernel, Seconds(m.sample.at("seconds")), options)
                                                        : measure(gpu, **kernel, plan.stop, options);
    if (!outcome && outcome.error().empty()) {
      summary.interrupted = true;
      ++summary.not_started;
      continue;
    }
    if (!outcome) {
      summary.left_out.push_back({key(m), outcome.error()});
      kernel->reset();
      summary.lost = gpu.lost();
      continue;
    }
    take(complete(m, *outcome, **kernel, gpu.identity(), options));
    ++summary.measured;
    summary.noisy += outcome->stop == Stop::converged ? 0 : 1;
    summary.throttled += outcome->throttled ? 1 : 0;
  }
  return summary;
}

}  // namespace tbdsim::calibrate
