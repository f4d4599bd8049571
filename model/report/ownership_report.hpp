#pragma once
#include <string>
#include <vector>

#include "model/study/ownership.hpp"

namespace tbdsim {

/// What candidates cost over the years of their terms, bought and rented in one table, best first; what is too dear or does not
/// fit is listed behind, without a rank.
[[nodiscard]] std::string ownership_report(const Comparison& comparison, const CostTerms& terms);

/// Columns that the terms add to the CSV of a comparison, and their fields for one candidate.
[[nodiscard]] std::vector<std::string> ownership_columns();
[[nodiscard]] std::vector<std::string> ownership_fields(const std::vector<Offer>& offers, std::size_t candidate);

}  // namespace tbdsim
