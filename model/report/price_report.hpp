#pragma once
#include <string>

#include "model/study/ownership.hpp"

namespace tbdsim {

/// Room of a candidate in the first column of a table: what the terminal has beside the figures.
[[nodiscard]] std::size_t label_width();
/// What a report calls a candidate: its values, or its number where those of one are too long for a table.
[[nodiscard]] std::string candidate_label(const Comparison& comparison, std::size_t candidate);
/// Which number is which candidate; empty where tables hold their values.
[[nodiscard]] std::string candidate_legend(const Comparison& comparison);

/// What the candidates of a comparison cost: one table of those that are sold, one of those that are let, the speed-up of each
/// beside its price ratio, where each price is from, and which candidates have none. With terms, one table of both on their
/// basis.
[[nodiscard]] std::string price_report(const Comparison& comparison, const std::optional<CostTerms>& terms = {});

}  // namespace tbdsim
