#include "model/trace/breakdown.hpp"

#include <algorithm>
#include <map>

namespace tbdsim::trace {
namespace {

constexpr std::array<std::string_view, kOccupations> kOccupationNames{
    "computes",           "exchange exposed", "copies exposed", "idle, after the host waited", "idle, host issues too late",
    "idle, start of work"};

int rank_of(Activity activity) { return activity == Activity::kernel ? 0 : activity == Activity::exchange ? 1 : 2; }

/// Walks over the events of one device and gives every nanosecond of the steps an occupation.
class Occupier {
 public:
  Occupier(const Trace& trace, Breakdown& result) : trace_(trace), result_(result) {}

  void run() {
    // Moments at which something begins or ends: (time, begins, rank).
    struct Edge {
      Nanoseconds at;
      int change, rank;
    };
    std::vector<Edge> edges;
    for (const Event& event : trace_.events) {
      if (event.device != result_.iterations.device || event.time() == 0) continue;
      edges.push_back({event.start, 1, rank_of(event.activity)});
      edges.push_back({event.end, -1, rank_of(event.activity)});
    }
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
    std::array<int, 3> open{};
    Nanoseconds since = trace_.events.front().start;
    for (const Edge& edge : edges) {
      account(since, edge.at, open);
      since = edge.at;
      open[static_cast<std::size_t>(edge.rank)] += edge.change;
    }
    // A step may end after its last event.
    account(since, result_.iterations.steps.back().end, open);
    if (trace_.on_host) account(result_.iterations.steps.front().start, trace_.events.front().start, {});
  }

 private:
  void account(Nanoseconds from, Nanoseconds to, const std::array<int, 3>& open) {
    if (to <= from) return;
    if (open[0] > 0) return add(from, to, Occupation::computes);
    if (open[1] > 0) return add(from, to, Occupation::exchanges);
    if (open[2] > 0) return add(from, to, Occupation::copies);
    idle(from, to);
  }

  /// Nothing runs from `from` to `to`, when the next event starts.
  void idle(Nanoseconds from, Nanoseconds to) {
    if (trace_.on_host) return add(from, to, Occupation::waits_host);
    while (next_ < trace_.events.size() &&
           (trace_.events[next_].start < to || trace_.events[next_].device != result_.iterations.device))
      ++next_;
    if (next_ == trace_.events.size() || !trace_.events[next_].issued) return add(from, to, Occupation::waits_start);
    const Nanoseconds issued = std::clamp(*trace_.events[next_].issued, from, to);
    add(from, issued, waited(from, issued) ? Occupation::waits_sync : Occupation::waits_host);
    add(issued, to, Occupation::waits_start);
  }

  /// Whether the host waited for the device when that fell idle.
  bool waited(Nanoseconds from, Nanoseconds issued) {
    while (wait_ < trace_.waits.size() && trace_.waits[wait_].end < from) ++wait_;
    return wait_ < trace_.waits.size() && trace_.waits[wait_].start <= from && trace_.waits[wait_].end <= issued;
  }

  /// The part of a stretch that lies in steps.
  void add(Nanoseconds from, Nanoseconds to, Occupation occupation) {
    const auto& steps = result_.iterations.steps;
    auto step =
        std::upper_bound(steps.begin(), steps.end(), from, [](Nanoseconds at, const Span& span) { return at < span.end; });
    for (; step != steps.end() && step->start < to; ++step)
      result_.occupation[static_cast<std::size_t>(occupation)] +=
          std::max<Nanoseconds>(0, std::min(to, step->end) - std::max(from, step->start));
  }

  const Trace& trace_;
  Breakdown& result_;
  std::size_t next_ = 0, wait_ = 0;
};

class Parts {
 public:
  void add(std::string_view name, Nanoseconds time) {
    Part& part = parts_[std::string(name)];
    ++part.count;
    part.time += time;
  }
  std::vector<Part> longest_first() {
    std::vector<Part> all;
    for (auto& [name, part] : parts_) all.push_back({name, part.count, part.time});
    std::stable_sort(all.begin(), all.end(), [](const Part& a, const Part& b) { return a.time > b.time; });
    return all;
  }

 private:
  std::map<std::string, Part, std::less<>> parts_;
};

}  // namespace

std::string_view name(Occupation occupation) { return kOccupationNames[static_cast<std::size_t>(occupation)]; }

Result<Breakdown> break_down(const Trace& trace, const std::string& name) {
  auto iterations = find_steps(trace, name);
  if (!iterations) return tl::make_unexpected(iterations.error());
  Breakdown result;
  result.iterations = std::move(*iterations);
  const auto& steps = result.iterations.steps;
  for (const Span& step : steps) result.steps_time += step.end - step.start;
  Occupier(trace, result).run();
  const Families family_of(trace);
  Parts whole, families, layers, kernels;
  for (const Event& event : trace.events) {
    const std::string_view family = tbdsim::trace::name(family_of.of(event));
    whole.add(family, event.time());
    result.events_time += event.time();
    if (event.device != result.iterations.device) continue;
    const auto step =
        std::upper_bound(steps.begin(), steps.end(), event.start, [](Nanoseconds at, const Span& span) { return at < span.end; });
    if (step == steps.end() || event.start < step->start) continue;
    families.add(family, event.time());
    kernels.add(trace.name_of(event), event.time());
    const std::string_view layer = event.module >= 0 ? trace.text(event.module) : trace.text(event.op);
    layers.add(layer.empty() ? "not told" : layer, event.time());
  }
  result.whole = whole.longest_first();
  result.families = families.longest_first();
  result.layers = layers.longest_first();
  result.kernels = kernels.longest_first();
  return result;
}

}  // namespace tbdsim::trace
