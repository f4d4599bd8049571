#pragma once
#include <string>
#include <vector>

#include "model/analysis/scenario_file.hpp"

namespace tbdsim {

/// Every claim with its verdict and the two sides that were compared, then how many hold; at most 80 columns.
[[nodiscard]] std::string claims_table(const std::vector<AssessedClaim>& claims);

/// A header and a row for each claim.
[[nodiscard]] std::string claims_csv(const std::vector<AssessedClaim>& claims);

/// "holds" or "fails"; "fit" and "trivial" claims say so, because they prove nothing.
[[nodiscard]] std::string verdict(const AssessedClaim& claim);

}  // namespace tbdsim
