#pragma once
#include <string>
#include <vector>

#include "model/plan/replan.hpp"

namespace tbdsim {

/// `again`: plans of other clusters, told after the rows.

/// The rows of a plan, what limits each, what the next ones give up, and the command that explains each.
[[nodiscard]] std::string plan_table(const plan::Plan& plan, Objective objective, const std::vector<plan::Replanned>& again = {});
/// One line a row, with its layout and its command.
[[nodiscard]] std::string plan_csv(const plan::Plan& plan);
/// One object of schema "tbdsim.plan/1": `rows` of what `predict` tells, best first, and `counts`.
[[nodiscard]] std::string plan_json(const plan::Plan& plan, Objective objective, const std::vector<plan::Replanned>& again = {});

}  // namespace tbdsim
