#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/configuration/study_grid.hpp"
#include "model/support/progress.hpp"
#include "model/validation/claim_evaluate.hpp"
#include "model/validation/measured_table.hpp"

namespace tbdsim {

/// What a claim proves: that a prediction meets a figure which set nothing; that a data file holds the figure; nothing,
/// because constants were set with the figure, because the claim can hardly fail, or because nobody published it: a control of
/// this project, which leaves a mechanism out.
enum class ClaimUse { validation, lookup, fit, trivial, control };
[[nodiscard]] std::string_view name(ClaimUse use);
/// Whether a claim of this use counts among those that hold or fail.
[[nodiscard]] constexpr bool counts(ClaimUse use) { return use == ClaimUse::validation || use == ClaimUse::lookup; }

struct Claim {
  std::string id, expr, source, reason;  ///< `reason`: why it is known to fail, or what it leaves out
  ClaimUse use = ClaimUse::validation;
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
  std::string id, expr, source, reason;
  ClaimUse use = ClaimUse::validation;
  int points = 0, failing = 0;
  std::string point;     ///< the one that `outcome` is of: the first that fails, else the first
  ClaimOutcome outcome;  ///< `holds`: at every point
  std::string problem;   ///< why it could not be evaluated; then it does not hold
};

/// Evaluates every claim of a scenario.
[[nodiscard]] std::vector<AssessedClaim> assess_claims(const Scenario& scenario, const LeafSource& source,
                                                       Progress* progress = nullptr);

/// How many claims count and hold, look-ups among them, and how many do not count.
struct ClaimCount {
  int counted = 0, holding = 0, lookups = 0, fit = 0, trivial = 0, controls = 0;
  int others_failing = 0;  ///< of those that do not count
  [[nodiscard]] int others() const { return fit + trivial + controls; }
};
[[nodiscard]] ClaimCount count(const std::vector<AssessedClaim>& claims);

}  // namespace tbdsim
