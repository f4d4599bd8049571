#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/analysis/predict.hpp"
#include "model/hardware/price.hpp"

namespace tbdsim {

/// What an hour of a job's hardware costs, and by which reckoning.
struct CostBasis {
  Usd hour;
  std::string kind;  ///< provenance: datasheet, assumed
  PriceBasis basis;
};

/// Price of an hour on `nodes` nodes with `gpus` GPUs in all. What is known of this very machine comes first, and of that what
/// the user gives: the kind of rent that it asks for, its rent, its price over three years of use, a price of its GPUs. Then the
/// cheapest whole on-demand instances with this GPU, one that holds a node's where there is one; last the launch prices of the
/// GPUs over three years. Absent where none is. Ignores power, staff and what else a machine needs.
[[nodiscard]] std::optional<CostBasis> cost_basis(const System& system, const std::vector<Price>& prices, int gpus, int nodes);

/// Tells a prediction what its hour, samples and energy cost: the fields of its cost, provenance, notices.
void tell_cost(const System& system, const std::vector<Price>& prices, Prediction& prediction);

/// Power that one GPU draws on average: idle draw, and up to its limit while it is busy. Absent without a power limit.
/// Source of the idle share: assumed, boards of 2016 to 2022 idle at 10 to 20 % of their limit.
[[nodiscard]] std::optional<Watts> average_power(const Device& device, double busy);

}  // namespace tbdsim
