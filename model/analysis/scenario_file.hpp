#pragma once
#include <string>
#include <utility>
#include <vector>

#include "model/analysis/claim_evaluate.hpp"
#include "model/analysis/measured_table.hpp"
#include "model/analysis/study_grid.hpp"

namespace tbdsim {

struct Claim {
  std::string id, expr, use, source, reason;  ///< `reason`: why it is known to fail, or what it leaves out
  std::vector<GridAxis>
      grid;  ///< options of every function that states none: of the scenario, with the claim's own in their place
  ClaimExpression expression;
};

/// A study: a published figure or table, with what it says as claims over predictions.
struct Scenario {
  std::string name, source, file;
  std::vector<MeasuredRun> runs;
  std::vector<Claim> claims;
};

/// Reads a scenario file (keys: scenarios/README.md). Errors: every problem of the file and of the tables it names;
/// those of an expression with their place in it.
[[nodiscard]] Result<Scenario> read_scenario(const std::string& path);
[[nodiscard]] Result<Scenario> parse_scenario(std::string text, const std::string& file);

/// The [grid] of a scenario file alone, for a sweep over it. Errors: a file that is no TOML or has no grid.
[[nodiscard]] Result<std::vector<GridAxis>> read_grid_file(const std::string& path);

/// A claim with its result over all points of its grid.
struct AssessedClaim {
  std::string id, expr, use, source, reason;
  int points = 0, failing = 0;
  std::string point;     ///< the one that `outcome` is of: the first that fails, else the first
  ClaimOutcome outcome;  ///< `holds`: at every point
  std::string problem;   ///< why it could not be evaluated; then it does not hold
};

/// Evaluates every claim of a scenario.
[[nodiscard]] std::vector<AssessedClaim> assess_claims(const Scenario& scenario, const LeafSource& source);

}  // namespace tbdsim
