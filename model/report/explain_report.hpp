#pragma once
#include <string>

#include "model/study/explain.hpp"

namespace tbdsim {

/// Where the step's time goes, the health checks, and what would help, best first; at most 80 columns.
[[nodiscard]] std::string explain_table(const Explanation& explanation);

/// A header and a row for each what-if.
[[nodiscard]] std::string explain_csv(const Explanation& explanation);

}  // namespace tbdsim
