#pragma once
#include <chrono>
#include <string>

#include "model/support/progress.hpp"

namespace tbdsim {

/// "1,200 of 4,000 points, 3 s left" after so many seconds; without the rest while nothing tells how long a piece takes.
[[nodiscard]] std::string progress_text(const Progress::State& state, double seconds);

/// Progress as a line on standard error that rewrites itself: on a terminal alone, from the second second on, ten times a second
/// at most. It is erased when its object goes. Nothing is written elsewhere.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// What work takes; nullptr where there is no terminal.
  [[nodiscard]] Progress* progress() { return terminal_ ? &progress_ : nullptr; }
  /// Takes the line away, so that other text may follow.
  void erase();

 private:
  using Clock = std::chrono::steady_clock;
  void show(const Progress::State& state);

  bool terminal_;
  bool drawn_ = false;
  Clock::time_point begun_ = Clock::now(), stretch_ = begun_, last_ = begun_;
  std::string what_;
  Progress progress_;
};

}  // namespace tbdsim
