#pragma once
#include <string>
#include <utility>
#include <vector>

#include "model/analysis/claim_evaluate.hpp"
#include "model/analysis/measured_table.hpp"

namespace tbdsim {

/// One option that every function of a claim has unless it states its own; several values: one evaluation each.
struct GridAxis {
  std::string option;
  std::vector<std::string> values;
};

struct Claim {
  std::string id, expr, use, source, reason;  ///< `reason`: why it is known to fail, or what it leaves out
  std::vector<GridAxis> grid;                 ///< of the scenario, with the claim's own in their place
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
