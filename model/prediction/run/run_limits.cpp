#include "model/prediction/run/run_limits.hpp"

#include <fmt/format.h>

#include "model/units/format.hpp"

namespace tbdsim {

RunMargins margins(const RunEstimate& run, const RunLimits& limits) {
  RunMargins used;
  if (limits.deadline) used.deadline = run.elapsed.value / *limits.deadline;
  if (limits.budget && run.cost) used.budget = *run.cost / *limits.budget;
  if (limits.power && run.power) used.power = *run.power / *limits.power;
  return used;
}

Errors check_limits(const RunLimits& limits, std::optional<Usd> node_hour) {
  Errors errors;
  if (limits.deadline && *limits.deadline <= Seconds(0.0))
    errors.push_back({fmt::format("--deadline: expected a time above 0, got {}", format(*limits.deadline))});
  if (limits.budget && *limits.budget <= Usd(0.0))
    errors.push_back({fmt::format("--budget: expected an amount above 0, got {}", format(*limits.budget))});
  else if (limits.budget && node_hour && *limits.budget < *node_hour)
    errors.push_back(
        {fmt::format("--budget {}: does not pay for one node for one hour ({})", format(*limits.budget), format(*node_hour))});
  if (limits.power && *limits.power <= Watts(0.0))
    errors.push_back({fmt::format("--power-limit: expected a power above 0, got {}", format(*limits.power))});
  return errors;
}

std::string shortfall(const RunEstimate& nearest, const RunLimits& limits) {
  const RunMargins used = margins(nearest, limits);
  std::string text;
  const auto add = [&](const char* verb, const std::string& what, double share, const char* name, const std::string& limit) {
    if (share > 1.0)
      text += fmt::format("{}{} {}, {:.2f} times the {} of {}", text.empty() ? "the nearest " : " and ", verb, what, share, name,
                          limit);
  };
  if (used.deadline) add("takes", format(nearest.elapsed.value), *used.deadline, "deadline", format(*limits.deadline));
  if (used.budget) add("costs", format(*nearest.cost), *used.budget, "budget", format(*limits.budget));
  if (used.power) add("draws", format(*nearest.power), *used.power, "power limit", format(*limits.power));
  return text;
}

}  // namespace tbdsim
