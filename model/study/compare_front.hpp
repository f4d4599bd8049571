#pragma once
#include <vector>

#include "model/study/compare.hpp"

namespace tbdsim {

/// Which candidates no other one beats in time a sample, cost a sample and memory of the fullest GPU together.
///
/// Candidates are set against those that share their base, so against the same work. What does not fit, or has no figures, is on
/// no front. Candidates without a price of the kind are left out; by `nothing`, time and memory alone count.
[[nodiscard]] std::vector<bool> compare_front(const Comparison& comparison, PaidBy by);

/// How the comparison can be paid for: by purchase, by rent or both; by nothing where no price at all is known.
[[nodiscard]] std::vector<PaidBy> payments_of(const Comparison& comparison);

/// Candidates on any of the fronts of its payments.
[[nodiscard]] std::vector<bool> compare_front(const Comparison& comparison);

}  // namespace tbdsim
