#pragma once
#include <string>

#include "model/study/compare.hpp"

namespace tbdsim {

/// What a report calls a candidate.
[[nodiscard]] std::string candidate_label(const Comparison& comparison, std::size_t candidate);

/// What the candidates of a comparison cost: one table of those that are sold, one of those that are let, the speed-up of each
/// beside its price ratio, where each price is from, and which candidates have none.
[[nodiscard]] std::string price_report(const Comparison& comparison);

}  // namespace tbdsim
