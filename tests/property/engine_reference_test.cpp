// The engine against a plain simulator that has no event queue, no components and no lazy update: at every change it
// looks at every task, fills all shares by small steps from bottleneck to bottleneck, and keeps time as a double.
#include <algorithm>
#include <limits>
#include <vector>

#include "model/engine/timeline.hpp"
#include "tests/catch.hpp"
#include "tests/property/engine_random_graph.hpp"

using namespace tbdsim;
using namespace tbdsim::engine;

namespace {

struct PlainFlow {
  std::int32_t task = 0;
  double bytes = 0.0, max_rate = 0.0;
  std::vector<LinkUse> uses;
};

constexpr double kNever = std::numeric_limits<double>::infinity();

class PlainSimulator {
 public:
  PlainSimulator(const TaskGraph& graph, std::vector<PlainFlow> flows) : graph_(graph), flows_(std::move(flows)) {}

  /// End of every task in picoseconds.
  std::vector<double> run() {
    const std::size_t n = graph_.tasks();
    end_.assign(n, kNever);
    start_.assign(n, kNever);
    left_.assign(n, 0.0);
    rate_.assign(n, 0.0);
    flow_of_.assign(n, nullptr);
    for (const PlainFlow& flow : flows_) {
      flow_of_[static_cast<std::size_t>(flow.task)] = &flow;
      left_[static_cast<std::size_t>(flow.task)] = flow.bytes;
    }
    start_ready(0.0);
    for (double now = 0.0; now < kNever;) {
      set_rates(now);
      const double next = next_change(now);
      for (std::size_t t = 0; t < n; ++t) left_[t] -= next < kNever ? rate_[t] * (next - now) * 1e-12 : 0.0;
      now = next;
      if (now < kNever) start_ready(now);
    }
    return end_;
  }

 private:
  /// From this time on the flow moves, or the task has ended.
  [[nodiscard]] double waited(std::size_t t) const {
    return start_[t] + static_cast<double>(graph_.duration({static_cast<std::int32_t>(t)}).picoseconds);
  }
  [[nodiscard]] bool moving(std::size_t t, double now) const { return flow_of_[t] && waited(t) <= now && end_[t] > now; }

  void start_ready(double now) {
    for (bool again = true; again;) {
      again = false;
      for (std::size_t t = 0; t < end_.size(); ++t) {
        if (start_[t] == kNever && ready(t, now)) {
          start_[t] = now;
          if (!flow_of_[t]) end_[t] = waited(t);
          again = true;
        }
        // What is left after the clock reached a flow's end is rounding of times, far below a picosecond of transfer.
        if (flow_of_[t] && end_[t] == kNever && waited(t) <= now && left_[t] <= 1e-6) {
          end_[t] = now;
          rate_[t] = 0.0;
          again = true;
        }
      }
    }
  }

  [[nodiscard]] bool ready(std::size_t t, double now) const {
    const TaskId id{static_cast<std::int32_t>(t)};
    const auto ended = [&](TaskId earlier) { return end_[static_cast<std::size_t>(earlier.value)] <= now; };
    if (!std::ranges::all_of(graph_.dependencies(id), ended)) return false;
    if (graph_.stream_of(id).value < 0) return true;
    for (std::int32_t before = id.value - 1; before >= 0; --before) {
      if (graph_.stream_of({before}).value == graph_.stream_of(id).value) return ended({before});
    }
    return true;
  }

  [[nodiscard]] double next_change(double now) const {
    double next = kNever;
    for (std::size_t t = 0; t < end_.size(); ++t) {
      if (start_[t] == kNever || end_[t] <= now) continue;
      next = std::min(next, waited(t) > now ? waited(t) : now + left_[t] / rate_[t] * 1e12);
    }
    return next;
  }

  void set_rates(double now) {
    std::vector<const PlainFlow*> rising;
    for (std::size_t t = 0; t < end_.size(); ++t) {
      if (moving(t, now)) rising.push_back(flow_of_[t]);
    }
    std::vector<double> used(graph_.links(), 0.0);
    while (!rising.empty()) {
      const auto share = [&](const PlainFlow* flow) { return largest_share(*flow, rising, used); };
      const double smallest = share(*std::ranges::min_element(rising, {}, share));
      std::vector<const PlainFlow*> still;
      std::vector<double> more(graph_.links(), 0.0);
      for (const PlainFlow* flow : rising) {
        if (share(flow) > smallest * (1.0 + 1e-12)) {
          still.push_back(flow);
          continue;
        }
        rate_[static_cast<std::size_t>(flow->task)] = smallest / largest_weight(*flow);
        for (const LinkUse& use : flow->uses) {
          more[static_cast<std::size_t>(use.link.value)] += use.weight * smallest / largest_weight(*flow);
        }
      }
      for (std::size_t l = 0; l < used.size(); ++l) used[l] += more[l];
      rising = still;
    }
  }

  /// Share at which the flow would have to stop if all of `rising` rose together.
  [[nodiscard]] double largest_share(const PlainFlow& flow, const std::vector<const PlainFlow*>& rising,
                                     const std::vector<double>& used) const {
    double share = flow.max_rate > 0.0 ? flow.max_rate * largest_weight(flow) : kNever;
    for (const LinkUse& use : flow.uses) {
      double load = 0.0;
      for (const PlainFlow* other : rising) {
        for (const LinkUse& theirs : other->uses) {
          if (theirs.link.value == use.link.value) load += theirs.weight / largest_weight(*other);
        }
      }
      share = std::min(share, (graph_.link_capacity(use.link).base() - used[static_cast<std::size_t>(use.link.value)]) / load);
    }
    return share;
  }
  static double largest_weight(const PlainFlow& flow) {
    return std::ranges::max_element(flow.uses, {}, &LinkUse::weight)->weight;
  }

  const TaskGraph& graph_;
  std::vector<PlainFlow> flows_;
  std::vector<double> start_, end_, left_, rate_;
  std::vector<const PlainFlow*> flow_of_;
};

}  // namespace

TEST_CASE("engine: agrees with a plain simulator") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return static_cast<std::int32_t>(random() % n); };
    TaskGraph graph;
    std::vector<PlainFlow> flows;
    for (int s = 0; s < 5; ++s) (void)graph.add_stream("stream");
    for (int l = 0; l < 6; ++l) (void)graph.add_link("link", BytesPerSecond(1e9 * (1 + below(20))));
    for (std::int32_t t = 0; t < 70; ++t) {
      std::vector<TaskId> after;
      if (t > 0 && below(2) == 0) after.push_back({below(static_cast<std::uint64_t>(t))});
      const StreamId stream{below(6) - 1};
      const SimTime duration{below(30) * 10'000'000L};
      if (below(3) == 0) {
        graph.add_task(stream, duration, after);
        continue;
      }
      PlainFlow flow{t, 1e6 * (1 + below(5)), below(4) == 0 ? 1e9 * (1 + below(4)) : 0.0, {}};
      const std::int32_t first = below(6);
      for (std::int32_t hop = 0; hop <= below(3); ++hop) flow.uses.push_back({{(first + hop) % 6}, below(3) == 0 ? 1.75 : 1.0});
      graph.add_flow(stream, Bytes(flow.bytes), duration, flow.uses, after, -1, BytesPerSecond(flow.max_rate));
      flows.push_back(flow);
    }
    const Timeline timeline = simulate(graph);
    const std::vector<double> expected = PlainSimulator(graph, flows).run();
    for (std::size_t t = 0; t < expected.size(); ++t) {
      INFO("task " << t);
      // Each of 70 roundings up to a whole picosecond may shift what follows; transfers last 10^8 to 10^10.
      REQUIRE_THAT(static_cast<double>(timeline.end[t].picoseconds), WithinAbs(expected[t], 500.0));
    }
  }
}
