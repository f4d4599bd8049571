#include "model/trace/rerun.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace tbdsim::trace {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

Nanoseconds scaled(Nanoseconds time, double factor) {
  constexpr double kLongest = 1e17;  // three years
  return factor == 1.0 ? time : std::llround(std::min(kLongest, factor * static_cast<double>(time)));
}

/// Another run of one device's events.
class Run {
 public:
  Run(const Trace& trace, std::int32_t device, const Factors& factors)
      : trace_(trace), factors_(factors), start_(trace.events.size()), end_(trace.events.size()), done_(trace.events.size()) {
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
      const Event& event = trace.events[i];
      if (event.device != device) continue;
      mine_.push_back(i);
      if (event.issued) calls_.push_back(i);
    }
    std::stable_sort(calls_.begin(), calls_.end(),
                     [&](std::size_t a, std::size_t b) { return *trace.events[a].issued < *trace.events[b].issued; });
    issued_.resize(trace.events.size());
    by_end_ = mine_;
    std::stable_sort(by_end_.begin(), by_end_.end(),
                     [&](std::size_t a, std::size_t b) { return trace.events[a].end < trace.events[b].end; });
  }

  void go() {
    for (const std::size_t i : mine_) place(i);
  }
  [[nodiscard]] Nanoseconds start(std::size_t event) const { return start_[event]; }
  [[nodiscard]] Nanoseconds end(std::size_t event) const { return end_[event]; }

 private:
  void place(std::size_t i) {
    const Event& event = trace_.events[i];
    const WorkFamily family = families_.of(event);
    // What it followed, and when that was.
    Nanoseconds bound = std::numeric_limits<Nanoseconds>::min(), now = bound;
    const auto after = [&](Nanoseconds before, Nanoseconds then) {
      if (before > event.start) return;
      bound = std::max(bound, before);
      now = std::max(now, then);
    };
    const auto previous = last_of_stream_.find(event.stream);
    if (previous != last_of_stream_.end()) after(trace_.events[previous->second].end, end_[previous->second]);
    if (event.issued) after(*event.issued, issued(i));
    if (const std::size_t other = ended_before(event.start); other != kNone && done_[other] && trace_.events[other].end > bound)
      after(trace_.events[other].end, end_[other]);
    if (family == WorkFamily::exchange)
      if (const std::size_t kernel = issued_before(event); kernel != kNone) after(trace_.events[kernel].end, end_[kernel]);
    if (family == WorkFamily::update)
      for (auto exchange = exchanges_.rbegin(); exchange != exchanges_.rend(); ++exchange) {
        if (trace_.events[*exchange].end > event.start) continue;
        after(trace_.events[*exchange].end, end_[*exchange]);
        break;
      }
    const bool first = bound == std::numeric_limits<Nanoseconds>::min();
    start_[i] = first ? event.start : now + (event.start - bound);
    end_[i] = start_[i] + scaled(event.time(), factors_.work[static_cast<std::size_t>(family)]);
    done_[i] = true;
    last_of_stream_[event.stream] = i;
    if (family == WorkFamily::exchange) exchanges_.push_back(i);
    if (event.activity == Activity::kernel) kernels_.push_back(i);
  }

  /// The event that ended last at or before a moment.
  std::size_t ended_before(Nanoseconds moment) {
    while (ended_ < by_end_.size() && trace_.events[by_end_[ended_]].end <= moment) ++ended_;
    return ended_ == 0 ? kNone : by_end_[ended_ - 1];
  }

  /// The last kernel that was issued, and had ended, before an exchange.
  [[nodiscard]] std::size_t issued_before(const Event& exchange) const {
    if (!exchange.issued) return kNone;
    constexpr std::size_t kFar = 4096;
    for (std::size_t back = 1; back <= std::min(kFar, kernels_.size()); ++back) {
      const Event& kernel = trace_.events[kernels_[kernels_.size() - back]];
      if (kernel.issued && *kernel.issued < *exchange.issued)
        return kernel.end <= exchange.start ? kernels_[kernels_.size() - back] : kNone;
    }
    return kNone;
  }

  /// When the host issues an event now. Calls are made in their order, each so long after the one before.
  Nanoseconds issued(std::size_t event) {
    for (; called_ < calls_.size() && (called_ == 0 || !issued_[event]); ++called_) {
      const std::size_t i = calls_[called_];
      const Nanoseconds at = *trace_.events[i].issued;
      if (called_ == 0) {
        host_ = host_then_ = at;
        // Waits before the first call hold nothing up.
        while (wait_ < trace_.waits.size() && trace_.waits[wait_].end <= at) ++wait_;
      }
      for (; wait_ < trace_.waits.size() && trace_.waits[wait_].end <= at; ++wait_) wait_out(trace_.waits[wait_]);
      advance(at);
      issued_[i] = host_;
    }
    return issued_[event].value_or(*trace_.events[event].issued);
  }
  void advance(Nanoseconds to) {
    if (to <= host_then_) return;
    host_ += scaled(to - host_then_, factors_.host);
    host_then_ = to;
  }
  void wait_out(const Span& wait) {
    advance(wait.start);
    if (wait.end <= host_then_) return;
    const Nanoseconds took = wait.end - std::max(wait.start, host_then_);
    const std::size_t last = ended_before_wait(wait.end);
    if (last != kNone && done_[last] && trace_.events[last].end >= wait.start) {
      host_ = std::max(host_, end_[last] + (wait.end - trace_.events[last].end));
    } else {
      host_ += took;
    }
    host_then_ = wait.end;
  }
  std::size_t ended_before_wait(Nanoseconds moment) {
    while (waited_ < by_end_.size() && trace_.events[by_end_[waited_]].end <= moment) ++waited_;
    return waited_ == 0 ? kNone : by_end_[waited_ - 1];
  }

  const Trace& trace_;
  const Factors& factors_;
  Families families_{trace_};
  std::vector<Nanoseconds> start_, end_;
  std::vector<bool> done_;
  std::vector<std::size_t> mine_, calls_, by_end_, exchanges_, kernels_;
  std::vector<std::optional<Nanoseconds>> issued_;
  std::unordered_map<std::int32_t, std::size_t> last_of_stream_;
  std::size_t ended_ = 0, waited_ = 0, called_ = 0, wait_ = 0;
  Nanoseconds host_ = 0, host_then_ = 0;  ///< the host's clock, in this run and in the trace
};

}  // namespace

double rerun(const Trace& trace, const Iterations& iterations, const Factors& factors) {
  const auto steps = static_cast<double>(iterations.steps.size());
  double all = 0.0;
  if (iterations.first.empty()) {
    for (const Span& step : iterations.steps) all += static_cast<double>(step.end - step.start);
    return all / steps;
  }
  Run run(trace, iterations.device, factors);
  run.go();
  for (std::size_t i = 0; i < iterations.steps.size(); ++i) {
    Nanoseconds end = 0;
    if (iterations.next[i] < trace.events.size()) {
      end = run.start(iterations.next[i]);
    } else {
      // The only step of its kind ends with its last event.
      for (std::size_t e = iterations.first[i]; e < trace.events.size(); ++e)
        if (trace.events[e].device == iterations.device && trace.events[e].start < iterations.steps[i].end)
          end = std::max(end, run.end(e));
    }
    all += static_cast<double>(end - run.start(iterations.first[i]));
  }
  return all / steps;
}

}  // namespace tbdsim::trace
