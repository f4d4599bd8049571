#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/hardware/price.hpp"
#include "model/prediction/prediction.hpp"

namespace tbdsim {

/// On what terms the hour of a purchase is reckoned, as the words of its basis end.
inline constexpr std::string_view kPurchaseTerms = ", over 3 years of constant use, without power and staff";

/// What a job's hardware costs, and by which reckoning.
struct CostBasis {
  Payment payment;
  std::string kind;  ///< provenance: datasheet, assumed
};

/// What `nodes` nodes with `gpus` GPUs in all are let for: the kind of rent that the user or the machine's file asks for, else
/// its own rent; where only a GPU was named, the cheapest whole on-demand instances with it, one that holds a node's GPUs where
/// there is one. Absent where none is known: another provider's rent is not that of this machine.
[[nodiscard]] std::optional<CostBasis> rent_basis(const System& system, const std::vector<Price>& prices, int gpus, int nodes);

/// What they are sold for: the machine's price, else its boards at their list price and a host. Ignores power and staff.
[[nodiscard]] std::optional<CostBasis> purchase_basis(const System& system, int gpus, int nodes);

/// The one of both by which the cost of a sample is told: what the user gives, else a rent that the machine's file states, its
/// price, a rent of the catalogue, the price of its boards.
[[nodiscard]] std::optional<CostBasis> cost_basis(const System& system, const std::vector<Price>& prices, int gpus, int nodes);

/// Tells a prediction what its hour, samples and energy cost: the fields of its cost, provenance, notices.
void tell_cost(const System& system, const std::vector<Price>& prices, Prediction& prediction);

/// Power that one GPU draws on average: idle draw, and up to its limit while it is busy. Absent without a power limit.
/// Source of the idle share: assumed, boards of 2016 to 2022 idle at 10 to 20 % of their limit.
[[nodiscard]] std::optional<Watts> average_power(const Device& device, double busy);

/// Power that all of `nodes` nodes but their GPUs draws in use: as the host's file states it, else what the maker prints of the
/// machine less its GPUs at their limit, else half of the limits of `gpus` GPUs. Absent without a power limit.
[[nodiscard]] std::optional<Watts> host_power(const System& system, int gpus, int nodes);

}  // namespace tbdsim
