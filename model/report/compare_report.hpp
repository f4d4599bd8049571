#pragma once
#include <string>

#include "model/study/compare.hpp"

namespace tbdsim {

/// Candidates side by side: speed-up with its range, utilisation, memory, then cost; at most 80 columns.
[[nodiscard]] std::string compare_table(const Comparison& comparison);

/// A header and a row for each candidate; a candidate without prediction has its reason.
[[nodiscard]] std::string compare_csv(const Comparison& comparison);

}  // namespace tbdsim
