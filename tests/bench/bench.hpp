#pragma once
#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "model/units/quantity.hpp"

namespace tbdsim::bench {

/// Spread of one benchmark over its runs.
struct Spread {
  double median = 0.0, min = 0.0, max = 0.0;
};

/// Keeps the compiler from dropping a result that nothing else reads.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

/// Prints one line per benchmark and remembers whether every goal was met.
///
/// A file tests/bench/bench_<thing>.cpp defines `void tbdsim::bench::bench_<thing>(Report&)`; the build finds it by
/// that name. Goals are compared with the median, and were set on the machine that the file names.
class Report {
 public:
  /// Only benchmarks whose name contains `filter` run.
  explicit Report(std::string filter) : filter_(std::move(filter)) {}

  /// Times `work()`; the goal is a duration not to be exceeded. One run warms up and is not counted.
  template <class Work>
  Spread time(std::string_view name, Seconds goal, int runs, Work work) {
    if (!wanted(name)) return {};
    const Spread seconds = sample(runs, work);
    print_time(name, seconds, goal);
    return seconds;
  }

  /// Times one of the `calls` that `work()` makes, for what is too short to time alone. As above otherwise.
  template <class Work>
  Spread each(std::string_view name, Seconds goal, int runs, int calls, Work work) {
    if (!wanted(name)) return {};
    Spread seconds = sample(runs, work);
    for (double* figure : {&seconds.median, &seconds.min, &seconds.max}) *figure /= calls;
    print_time(name, seconds, goal);
    return seconds;
  }

  /// Rate of `work()`, which does `count` units; the goal is a rate to be reached. `unit` as in "events".
  template <class Work>
  Spread rate(std::string_view name, double count, std::string_view unit, double goal_per_second, int runs, Work work) {
    if (!wanted(name)) return {};
    const Spread seconds = sample(runs, work);
    const Spread rates{count / seconds.median, count / seconds.max, count / seconds.min};
    print_rate(name, rates, unit, goal_per_second);
    return rates;
  }

  /// A number derived from others; the goal is not to be exceeded.
  void ratio(std::string_view name, double value, double goal);

  /// A size measured once; the goal is not to be exceeded.
  void size(std::string_view name, Bytes value, Bytes goal);

  /// Whether a benchmark called so is to run: inputs that are costly to make need not be made otherwise.
  [[nodiscard]] bool wanted(std::string_view name) const { return name.find(filter_) != std::string_view::npos; }
  [[nodiscard]] bool all_met() const { return all_met_; }

 private:
  template <class Work>
  static Spread sample(int runs, Work& work) {
    std::vector<double> seconds;
    for (int run = -1; run < runs; ++run) {
      const auto start = std::chrono::steady_clock::now();
      work();
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      if (run >= 0) seconds.push_back(elapsed.count());
    }
    std::ranges::sort(seconds);
    return {seconds[seconds.size() / 2], seconds.front(), seconds.back()};
  }

  void print_time(std::string_view name, Spread seconds, Seconds goal);
  void print_rate(std::string_view name, Spread rates, std::string_view unit, double goal_per_second);
  std::string_view verdict(bool met);

  std::string filter_;
  bool all_met_ = true;
};

}  // namespace tbdsim::bench
