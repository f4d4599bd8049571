#pragma once
#include <string>
#include <vector>

#include "model/validation/scenario_file.hpp"

namespace tbdsim {

/// Every claim with its verdict and the two sides that were compared, then how many hold; at most 80 columns.
[[nodiscard]] std::string claims_table(const std::vector<AssessedClaim>& claims);

/// A header and a row for each claim.
[[nodiscard]] std::string claims_csv(const std::vector<AssessedClaim>& claims);

/// "holds" or "fails"; look-ups, "fit", "trivial" and "control" claims say so, because they prove no prediction.
[[nodiscard]] std::string verdict(const AssessedClaim& claim);

/// "147 of 157 claims hold; 47 fit or trivial not counted; of the 157, 35 are look-ups"
[[nodiscard]] std::string count_text(const ClaimCount& count);
/// "10 of 157 claims fail"; those that are not counted and fail apart; empty where none does.
[[nodiscard]] std::string failing_text(const ClaimCount& count);

}  // namespace tbdsim
