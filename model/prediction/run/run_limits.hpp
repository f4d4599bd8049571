#pragma once
#include <optional>

#include "model/prediction/run/run_estimate.hpp"

namespace tbdsim {

/// What a run may take at most; absent: as much as it likes.
struct RunLimits {
  std::optional<Seconds> deadline;
  std::optional<Usd> budget;
  std::optional<Watts> power;  ///< of the building
};

/// How a run stands against one limit: `used` over what it may take, so above 1 it breaks it.
struct RunMargins {
  std::optional<double> deadline, budget, power;
  [[nodiscard]] bool within() const {
    return deadline.value_or(0.0) <= 1.0 && budget.value_or(0.0) <= 1.0 && power.value_or(0.0) <= 1.0;
  }
};

/// What of each limit a run uses. A cost or a power that is not known uses nothing of its limit: `RunEstimate` says whether it
/// is.
[[nodiscard]] RunMargins margins(const RunEstimate& run, const RunLimits& limits);

/// Errors: limits that no run can keep, as those of a command line: a deadline, budget or power of 0 or less; a budget that does
/// not pay for one node for an hour.
[[nodiscard]] Errors check_limits(const RunLimits& limits, std::optional<Usd> node_hour);

/// How far the nearest of several runs that all break a limit is from it: "the nearest takes 41.2 d, 1.37 times the deadline of
/// 30 d". Empty where it keeps all limits.
[[nodiscard]] std::string shortfall(const RunEstimate& nearest, const RunLimits& limits);

}  // namespace tbdsim
