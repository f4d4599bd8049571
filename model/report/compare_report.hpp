#pragma once
#include <string>

#include "model/study/ownership.hpp"

namespace tbdsim {

/// Candidates side by side: speed-up with its range, utilisation, memory, then cost, on these terms if any; at most
/// 80 columns.
[[nodiscard]] std::string compare_table(const Comparison& comparison, const std::optional<CostTerms>& terms = {});

/// A header and a row for each candidate; a candidate without prediction has its reason.
[[nodiscard]] std::string compare_csv(const Comparison& comparison, const std::optional<CostTerms>& terms = {});

}  // namespace tbdsim
