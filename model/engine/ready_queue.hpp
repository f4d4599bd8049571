#pragma once
#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace tbdsim::engine {

/// Tasks that are ready for a queue which runs as many at a time as it has workers: least priority value first, of equals the one
/// that became ready first.
class ReadyQueue {
 public:
  /// Counts a task that will enter, so that `reserve` makes room once.
  void expect_one_more() { ++expected_; }
  void reserve(std::int32_t workers) {
    waiting_.reserve(expected_);
    free_ = workers;
  }

  /// Returns whether the task may start at once; else it waits.
  bool enter(std::int32_t task, std::int32_t priority) {
    if (free_ > 0) {
      --free_;
      return true;
    }
    waiting_.push_back({priority, arrivals_++, task});
    std::push_heap(waiting_.begin(), waiting_.end(), later);
    return false;
  }
  /// A running task has ended; returns the one that starts now, -1 if none waits.
  std::int32_t leave() {
    if (waiting_.empty()) {
      ++free_;
      return -1;
    }
    std::pop_heap(waiting_.begin(), waiting_.end(), later);
    const std::int32_t task = waiting_.back().task;
    waiting_.pop_back();
    return task;
  }

 private:
  struct Waiting {
    std::int32_t priority, arrival, task;
  };
  static bool later(const Waiting& a, const Waiting& b) {
    return std::tie(a.priority, a.arrival) > std::tie(b.priority, b.arrival);
  }

  std::vector<Waiting> waiting_;  // a heap
  std::size_t expected_ = 0;
  std::int32_t arrivals_ = 0;
  std::int32_t free_ = 1;  // workers
};

}  // namespace tbdsim::engine
