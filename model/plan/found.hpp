#pragma once
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "model/plan/fast_memory.hpp"
#include "model/plan/fast_step.hpp"
#include "model/plan/front.hpp"
#include "model/plan/plan_counts.hpp"

namespace tbdsim::plan {

/// One layout that was tried.
struct Candidate {
  Layout layout;
  pipeline::ScheduleKind schedule = pipeline::ScheduleKind::one_f_one_b;
  Recompute recompute = Recompute::none;
  int batch = 1, zero = 0;
  Seconds time;
  Bytes memory;             ///< at least
  bool dominated = false;   ///< counted so
  std::size_t variant = 0;  ///< of the job (`Variants`)
};
/// By time; of equally fast ones the order does not depend on that in which they were found.
[[nodiscard]] bool faster(const Candidate& a, const Candidate& b);
/// By memory, with the same order among equals.
[[nodiscard]] bool smaller(const Candidate& a, const Candidate& b);
/// Keeps the fastest, and a quarter as many of those that fit beyond doubt. Returns whether there are so many of both.
bool keep_fastest(std::vector<Candidate>& all, std::size_t most, Bytes capacity);

/// What a search has found.
struct Found {
  std::vector<Candidate> nearest;  ///< that may fit, fastest first
  Front front;
  PlanCounts counts;
  std::optional<Candidate> smallest{};               ///< of what was not kept because it surely does not fit
  Errors refusals{};                                 ///< why the first layout was refused, where all were
  std::pair<std::size_t, std::size_t> refused_at{};  ///< variant and unit of that
  bool interrupted = false;

  /// Adds what another search has found: a variant, or other layouts.
  void add(Found other);
};

}  // namespace tbdsim::plan
