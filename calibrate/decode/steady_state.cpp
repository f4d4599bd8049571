#include "calibrate/decode/steady_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>

namespace tbdsim::calibrate {
namespace {

/// A small number for each different activity.
std::vector<std::int32_t> signatures(const ActivityLog& log) {
  std::map<std::tuple<ActivityKind, std::string_view, std::array<std::int32_t, 3>>, std::int32_t> known;
  std::vector<std::int32_t> result;
  result.reserve(log.activities.size());
  for (const Activity& a : log.activities) {
    const auto next = static_cast<std::int32_t>(known.size());
    result.push_back(known.try_emplace({a.kind, a.name, a.grid}, next).first->second);
  }
  return result;
}

bool repeats(std::span<const std::int32_t> tail, std::size_t period) {
  constexpr double kShare = 0.95;  // an iteration in a hundred prints, evaluates or saves
  std::size_t same = 0;
  for (std::size_t i = period; i < tail.size(); ++i) same += tail[i] == tail[i - period] ? 1 : 0;
  return static_cast<double>(same) >= kShare * static_cast<double>(tail.size() - period);
}

/// Smallest period that fits at least three times; 0 if there is none.
std::size_t find_period(std::span<const std::int32_t> tail) {
  if (tail.empty()) return 0;
  // An iteration is as long as the distance between two runs of its rarest activity.
  std::map<std::int32_t, std::size_t> count;
  for (const std::int32_t s : tail) ++count[s];
  std::size_t rarest = 0;
  for (std::size_t i = 0; i < tail.size(); ++i) {
    const std::size_t n = count[tail[i]];
    if (n >= 3 && (count[tail[rarest]] < 3 || n < count[tail[rarest]])) rarest = i;
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < tail.size(); ++i) {
    if (tail[i] == tail[rarest]) places.push_back(i);
  }
  constexpr std::size_t kMostCandidates = 64;
  for (std::size_t i = 1; i < places.size() && i <= kMostCandidates; ++i) {
    const std::size_t period = places[i] - places[0];
    if (3 * period <= tail.size() && repeats(tail, period)) return period;
  }
  return 0;
}

/// Length of the union of intervals, which are sorted by start.
std::int64_t covered(const std::vector<std::pair<std::int64_t, std::int64_t>>& intervals) {
  std::int64_t total = 0, end = 0;
  for (const auto& [a, b] : intervals) {
    total += std::max<std::int64_t>(0, b - std::max(a, end));
    end = std::max(end, b);
  }
  return total;
}

/// Tensor-core instructions in names of library kernels: hmma, imma, wgmma, "tensorop", "s16816".
bool names_tensor_core(std::string_view name) {
  constexpr std::array<std::string_view, 8> kWords{"hmma", "imma", "wgmma", "gmma", "tensorop", "s1688", "s16816", "s884"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view w) { return name.find(w) != std::string_view::npos; });
}

}  // namespace

Result<SteadyIterations> find_iterations(const ActivityLog& log, int skip, int iterations) {
  const std::vector<std::int32_t> all = signatures(log);
  const std::span<const std::int32_t> tail(all.data() + all.size() / 2, all.size() - all.size() / 2);
  SteadyIterations steady;
  steady.period = find_period(tail);
  if (steady.period == 0)
    return fail(
        fmt::format("no iteration repeats three times among the last {} of {} recorded kernels and copies; let the "
                    "program train longer",
                    tail.size(), all.size()));
  // Walk back from the tail while whole periods still look alike.
  std::size_t begin = all.size() / 2;
  while (begin >= steady.period &&
         std::equal(all.begin() + static_cast<std::ptrdiff_t>(begin - steady.period),
                    all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(begin)))
    begin -= steady.period;
  const auto found = static_cast<int>((all.size() - begin) / steady.period);
  if (found < skip + iterations)
    return fail(fmt::format("{} steady iterations were recorded, --skip {} --iterations {} need {}", found, skip, iterations,
                            skip + iterations));
  steady.first = begin + static_cast<std::size_t>(skip) * steady.period;
  steady.iterations = iterations;
  return steady;
}

ProfileSummary summarize(const ActivityLog& log, const SteadyIterations& steady, const KernelOccupancy& occupancy) {
  ProfileSummary summary;
  summary.iterations = steady.iterations;
  const auto count = static_cast<std::size_t>(steady.iterations) * steady.period;
  const std::span<const Activity> part(log.activities.data() + steady.first, count);
  std::map<std::string_view, KernelShare> by_name;
  std::vector<std::pair<std::int64_t, std::int64_t>> kernels, everything;
  Seconds total, tensor;
  for (const Activity& a : part) {
    everything.emplace_back(a.start_ns, a.end_ns);
    if (a.kind != ActivityKind::kernel) continue;
    kernels.emplace_back(a.start_ns, a.end_ns);
    KernelShare& share = by_name[a.name];
    share.calls += 1;
    share.mean += a.time();
    total += a.time();
    share.tensor_core = names_tensor_core(a.name);
    if (share.tensor_core) tensor += a.time();
    if (occupancy) share.occupancy += occupancy(a) * a.time().base();
  }
  // An iteration lasts to the start of the next; the last one to the next recorded activity, or to its own end.
  std::vector<double> starts;
  for (std::size_t i = 0; i <= count; i += steady.period) {
    const std::size_t at = steady.first + i;
    starts.push_back(1e-9 * static_cast<double>(at < log.activities.size() ? log.activities[at].start_ns : part.back().end_ns));
  }
  const double n = steady.iterations, wall = starts.back() - starts.front();
  double square = 0.0;
  summary.fastest = summary.slowest = Seconds(starts[1] - starts[0]);
  for (std::size_t i = 1; i < starts.size(); ++i) {
    const Seconds step(starts[i] - starts[i - 1]);
    square += std::pow(step.base() - wall / n, 2);
    summary.fastest = std::min(summary.fastest, step);
    summary.slowest = std::max(summary.slowest, step);
  }
  summary.step = Seconds(wall / n);
  summary.step_spread = Seconds(n > 1 ? std::sqrt(square / (n - 1)) : 0.0);
  const double busy_ns = static_cast<double>(covered(kernels)), any_ns = static_cast<double>(covered(everything));
  summary.busy = std::min(1.0, 1e-9 * busy_ns / wall);
  summary.copying = std::min(1.0 - summary.busy, 1e-9 * (any_ns - busy_ns) / wall);
  summary.launches = static_cast<double>(kernels.size()) / n;
  if (total > Seconds(0.0)) summary.tensor_core = tensor / total;
  for (auto& [name, share] : by_name) {
    share.name = name;
    share.share = share.mean / total;
    summary.occupancy += share.occupancy / total.base();
    share.occupancy /= share.mean.base();
    share.mean = share.mean / share.calls;
    share.calls /= n;
    summary.kernels.push_back(share);
  }
  std::stable_sort(summary.kernels.begin(), summary.kernels.end(),
                   [](const KernelShare& a, const KernelShare& b) { return a.share > b.share; });
  return summary;
}

}  // namespace tbdsim::calibrate
