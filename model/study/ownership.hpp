#pragma once
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "model/study/compare.hpp"

namespace tbdsim {

using UsdPerJoule = decltype(Usd() / Joules());

/// By what candidates are ranked: USD of a sample, samples in a second, energy of a sample.
enum class Objective { cost, time, energy };
[[nodiscard]] std::string_view name(Objective objective);
[[nodiscard]] std::optional<Objective> parse_objective(std::string_view text);

/// On what terms all candidates are paid for: the same years, the same share of them in use.
struct CostTerms {
  double years = 3.0;                      ///< assumed: depreciation of a server
  double duty = 1.0;                       ///< share of the years in which jobs run
  std::optional<UsdPerJoule> power_price;  ///< absent: power is left out
  std::optional<double> cooling;           ///< power of the building over that of its machines; absent: cooling is left out
  std::optional<Usd> budget;               ///< of everything over the years; absent: any
  Objective objective = Objective::cost;
  [[nodiscard]] double building() const { return cooling.value_or(1.0); }
};

/// What a candidate costs over the years of its terms.
struct Ownership {
  Usd machines;  ///< boards, or machines as they are sold; all of the rent of what is let
  Usd host;      ///< of boards: their machines without GPUs; else in `machines`
  Usd power;     ///< with cooling, while jobs run; of what is let in the rent
  Usd total;
  Usd sample;       ///< total over the samples of the years
  bool affordable;  ///< within the budget
};

/// What a candidate costs on these terms, bought or rented; absent without a price of the kind. Rent is paid while jobs run.
/// Power: GPUs on average while jobs run, and all else of their nodes. Ignores staff, space, interest, what is left of the value,
/// and the power of idle machines.
[[nodiscard]] std::optional<Ownership> ownership(const Prediction& prediction, const CostTerms& terms, PaidBy by);

/// Energy of a sample on GPUs and all else of their nodes; absent where the GPU's power is not known.
[[nodiscard]] std::optional<Joules> node_energy(const Prediction& prediction);
/// The same with cooling.
[[nodiscard]] std::optional<Joules> sample_energy(const Prediction& prediction, const CostTerms& terms);

/// A candidate and how it is paid for.
struct Offer {
  std::size_t candidate = 0;
  PaidBy by = PaidBy::purchase;
  Ownership cost;
  std::optional<Joules> energy;  ///< of a sample
  std::optional<int> rank;       ///< from 1 among those with its base; absent: too dear, does not fit, or not known
};

/// Every candidate that has a price, bought and rented apart, all on one basis: ranked ones first, best first, candidates of one
/// base together. Equal ones keep the order of candidates.
[[nodiscard]] std::vector<Offer> rank_offers(const Comparison& comparison, const CostTerms& terms);

/// Buying against renting, of one network: of each the offer whose samples cost least.
struct BreakEven {
  std::size_t bought, rented;   ///< places among the offers
  std::optional<double> years;  ///< from which on samples of what is bought cost less, used as the terms say; absent: never
};
/// Absent where nothing is bought or nothing is rented of what holds the job, or samples of several networks do not compare.
[[nodiscard]] std::optional<BreakEven> break_even(const Comparison& comparison, const std::vector<Offer>& offers,
                                                  const CostTerms& terms);

}  // namespace tbdsim
