#include "calibrate/decode/steady_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>

#include "model/trace/repetition.hpp"

namespace tbdsim::calibrate {
namespace {

using trace::find_repetition;
using trace::Repetition;

/// The kernels of the stream that runs most of them, in order of start.
std::vector<const Activity*> busiest_stream(const ActivityLog& log) {
  std::map<std::uint32_t, std::size_t> launches;
  for (const Activity& a : log.activities) launches[a.stream] += a.kind == ActivityKind::kernel ? 1 : 0;
  const auto most =
      std::max_element(launches.begin(), launches.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<const Activity*> kernels;
  for (const Activity& a : log.activities) {
    if (a.kind == ActivityKind::kernel && a.stream == most->first) kernels.push_back(&a);
  }
  return kernels;
}

/// A small number for each different kernel.
std::vector<std::int32_t> signatures(const std::vector<const Activity*>& kernels) {
  std::map<std::tuple<std::string_view, std::array<std::int32_t, 3>>, std::int32_t> known;
  std::vector<std::int32_t> result;
  result.reserve(kernels.size());
  for (const Activity* a : kernels) {
    const auto next = static_cast<std::int32_t>(known.size());
    result.push_back(known.try_emplace({a->name, a->grid}, next).first->second);
  }
  return result;
}

/// The shortest repetition, or the one `passes` times as long as that.
Repetition repetition_of(const std::vector<const Activity*>& kernels, int passes) {
  constexpr double kNear = 1.25;  // an optimiser adds its kernels to those of the passes
  const std::vector<std::int32_t> sequence = signatures(kernels);
  std::vector<double> seconds;
  seconds.reserve(kernels.size());
  for (const Activity* a : kernels) seconds.push_back(a->time().base());
  Repetition pass = find_repetition(sequence, seconds);
  if (passes == 1 || pass.length == 0) return pass;
  const double length = passes * static_cast<double>(pass.length);
  Repetition whole = find_repetition(sequence, seconds, length / kNear);
  return static_cast<double>(whole.length) <= kNear * length ? whole : Repetition{};
}

/// Tells the iterations that regularly run more than the others.
void find_longer(const Repetition& found, SteadyIterations& steady) {
  constexpr std::size_t kLeast = 3;
  std::vector<std::size_t> longer;
  double more = 0.0;
  for (std::size_t i = 0; i < found.parts(); ++i) {
    if (found.length_of(i) <= found.length) continue;
    longer.push_back(i);
    more += static_cast<double>(found.length_of(i) - found.length);
  }
  std::map<std::size_t, std::size_t> distances;
  for (std::size_t i = 1; i < longer.size(); ++i) ++distances[longer[i] - longer[i - 1]];
  for (const auto& [distance, times] : distances) {
    if (distance < 2 || times < kLeast - 1 || 5 * times < 4 * (longer.size() - 1)) continue;
    steady.every = static_cast<int>(distance);
    steady.more = more / static_cast<double>(longer.size());
  }
}

/// Length of the union of intervals, which are sorted by start.
std::int64_t covered(const std::vector<Window>& intervals) {
  std::int64_t total = 0, end = 0;
  for (const auto& [a, b] : intervals) {
    total += std::max<std::int64_t>(0, b - std::max(a, end));
    end = std::max(end, b);
  }
  return total;
}

Seconds length_of(const Window& window) { return Seconds(1e-9 * static_cast<double>(window.end_ns - window.start_ns)); }

/// Tensor-core instructions in names of library kernels: hmma, imma, wgmma, "tensorop", "s16816".
bool names_tensor_core(std::string_view name) {
  constexpr std::array<std::string_view, 8> kWords{"hmma", "imma", "wgmma", "gmma", "tensorop", "s1688", "s16816", "s884"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view w) { return name.find(w) != std::string_view::npos; });
}

void measure_steps(const std::vector<Window>& windows, ProfileSummary& summary) {
  const auto n = static_cast<double>(windows.size());
  double sum_ns = 0.0, square = 0.0;
  summary.fastest = summary.slowest = length_of(windows.front());
  for (const Window& window : windows) {
    sum_ns += static_cast<double>(window.end_ns - window.start_ns);
    summary.fastest = std::min(summary.fastest, length_of(window));
    summary.slowest = std::max(summary.slowest, length_of(window));
  }
  for (const Window& window : windows) square += std::pow(static_cast<double>(window.end_ns - window.start_ns) - sum_ns / n, 2);
  summary.step = Seconds(1e-9 * sum_ns / n);
  summary.step_spread = Seconds(n > 1 ? 1e-9 * std::sqrt(square / (n - 1)) : 0.0);
}

/// What ran in the windows, added up.
struct Tally {
  std::map<std::string_view, KernelShare> kernels;  ///< sums: calls, time as `mean`, occupancy times seconds
  std::int64_t busy_ns = 0, any_ns = 0;

  void add(const Activity& a, const KernelOccupancy& occupancy) {
    KernelShare& share = kernels[a.name];
    share.calls += 1;
    share.mean += a.time();
    share.tensor_core = names_tensor_core(a.name);
    if (occupancy) share.occupancy += occupancy(a) * a.time().base();
  }
};

/// Adds one window; `longest`: of the activities, which are in order of start.
void add_window(const std::vector<Activity>& all, std::int64_t longest, const Window& window, const KernelOccupancy& occupancy,
                Tally& tally) {
  std::vector<Window> kernels, everything;
  // What runs into the window from before it may have started as long ago as the longest lasts.
  auto at = std::lower_bound(all.begin(), all.end(), window.start_ns - longest,
                             [](const Activity& a, std::int64_t start) { return a.start_ns < start; });
  for (; at != all.end() && at->start_ns < window.end_ns; ++at) {
    const Window inside{std::max(at->start_ns, window.start_ns), std::min(at->end_ns, window.end_ns)};
    if (inside.end_ns < inside.start_ns) continue;
    everything.push_back(inside);
    if (at->kind != ActivityKind::kernel) continue;
    kernels.push_back(inside);
    if (at->start_ns >= window.start_ns) tally.add(*at, occupancy);
  }
  tally.busy_ns += covered(kernels);
  tally.any_ns += covered(everything);
}

/// Turns sums into means and shares, the largest share first.
void rank_kernels(const Tally& tally, ProfileSummary& summary) {
  Seconds total, tensor;
  for (const auto& [name, share] : tally.kernels) total += share.mean;
  for (auto [name, share] : tally.kernels) {
    if (share.tensor_core) tensor += share.mean;
    summary.launches += share.calls / summary.iterations;
    summary.occupancy += share.occupancy / total.base();
    share.name = name;
    share.share = share.mean / total;
    share.occupancy /= share.mean.base();
    share.mean = share.mean / share.calls;
    share.calls /= summary.iterations;
    summary.kernels.push_back(share);
  }
  if (total > Seconds(0.0)) summary.tensor_core = tensor / total;
  std::stable_sort(summary.kernels.begin(), summary.kernels.end(),
                   [](const KernelShare& a, const KernelShare& b) { return a.share > b.share; });
}

}  // namespace

Result<SteadyIterations> find_iterations(const ActivityLog& log, const IterationChoice& choice) {
  const std::vector<const Activity*> kernels = busiest_stream(log);
  if (kernels.empty()) return fail("the recording holds no kernel");
  const Repetition found = repetition_of(kernels, choice.passes);
  if (found.length == 0)
    return fail(
        fmt::format("no iteration {}repeats three times among the last {} of {} recorded kernels; let the program train "
                    "longer",
                    choice.passes > 1 ? fmt::format("of {} passes ", choice.passes) : "", kernels.size() - kernels.size() / 2,
                    kernels.size()));
  SteadyIterations steady;
  steady.kernels = found.length;
  const std::int64_t needed = std::int64_t{choice.skip} + choice.iterations;
  std::int64_t alike = 0;
  int others = 0;  // stretches of parts that are not alike, behind the first that is
  bool other = true;
  for (std::size_t i = 0; i < found.parts(); ++i) {
    const Window window{kernels[found.anchors[i]]->start_ns, kernels[found.anchors[i + 1]]->start_ns};
    if (!found.alike[i] || window.end_ns == window.start_ns) {
      others += other ? 0 : 1;
      other = true;
      continue;
    }
    other = false;
    steady.left_out = others;
    if (alike >= choice.skip && alike < needed) steady.windows.push_back(window);
    ++alike;
  }
  if (alike < needed)
    return fail(fmt::format("{} steady iterations were recorded, --skip {} --iterations {} need {}", alike, choice.skip,
                            choice.iterations, needed));
  if (choice.passes == 1) find_longer(found, steady);
  return steady;
}

ProfileSummary summarize(const ActivityLog& log, const SteadyIterations& steady, const KernelOccupancy& occupancy) {
  ProfileSummary summary;
  summary.iterations = static_cast<int>(steady.windows.size());
  measure_steps(steady.windows, summary);
  std::int64_t longest = 0;
  for (const Activity& a : log.activities) longest = std::max(longest, a.end_ns - a.start_ns);
  Tally tally;
  for (const Window& window : steady.windows) add_window(log.activities, longest, window, occupancy, tally);
  const double wall_ns = 1e9 * summary.iterations * summary.step.base();
  summary.busy = std::min(1.0, static_cast<double>(tally.busy_ns) / wall_ns);
  summary.copying = std::min(1.0 - summary.busy, static_cast<double>(tally.any_ns - tally.busy_ns) / wall_ns);
  rank_kernels(tally, summary);
  return summary;
}

}  // namespace tbdsim::calibrate
