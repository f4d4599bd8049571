#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/hardware/price.hpp"

namespace tbdsim {

/// What a prediction's provenance calls the price.
inline constexpr const char* kPriceOfHour = "price of an hour";

/// What an hour of a job's hardware costs, and by which reckoning.
struct CostBasis {
  double usd_per_hour = 0.0;
  int gpus = 0;        ///< that come with it where instances are rented whole; else 0
  std::string kind;    ///< provenance: datasheet, assumed
  std::string source;  ///< instance, date and page; or the purchase price and how long it lasts
};

/// Price of an hour on `nodes` nodes with `gpus` GPUs in all. The first that is known: the rent in the system file; the
/// cheapest whole on-demand instances with this GPU, one that holds a node's where there is one; the purchase price of the
/// system, else the launch prices of the GPUs, over three years of use. Absent where none is. Ignores power, staff and what else
/// a machine needs.
[[nodiscard]] std::optional<CostBasis> cost_basis(const System& system, const std::vector<Price>& prices, int gpus, int nodes);

/// Power that one GPU draws on average: idle draw, and up to its limit while it is busy. Absent without a power limit.
/// Source of the idle share: assumed, boards of 2016 to 2022 idle at 10 to 20 % of their limit.
[[nodiscard]] std::optional<Watts> average_power(const Device& device, double busy);

}  // namespace tbdsim
