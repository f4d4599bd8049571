#include <fmt/format.h>

#include <algorithm>

#include "model/cli/command.hpp"
#include "model/cli/leaf_source.hpp"
#include "model/cli/output.hpp"
#include "model/report/accuracy_table.hpp"
#include "model/report/claims_report.hpp"
#include "model/report/csv.hpp"
#include "model/report/json.hpp"

namespace tbdsim {
namespace {

bool is_scenario(const std::string& path) { return path.size() > 5 && path.compare(path.size() - 5, 5, ".toml") == 0; }

/// What the files hold: rows to predict and claims to evaluate.
struct Checks {
  std::vector<MeasuredRun> runs;
  std::vector<Scenario> scenarios;
};

Result<Checks> read_checks(const std::vector<std::string>& paths) {
  Checks checks;
  Errors errors;
  const auto add = [&](std::vector<MeasuredRun>& runs) {
    checks.runs.insert(checks.runs.end(), std::make_move_iterator(runs.begin()), std::make_move_iterator(runs.end()));
  };
  for (const std::string& path : paths) {
    if (is_scenario(path)) {
      auto scenario = read_scenario(path);
      if (scenario) {
        add(scenario->runs);
        checks.scenarios.push_back(std::move(*scenario));
      } else {
        errors.insert(errors.end(), scenario.error().begin(), scenario.error().end());
      }
      continue;
    }
    auto table = read_measured_table(path);
    if (!table)
      errors.insert(errors.end(), table.error().begin(), table.error().end());
    else
      add(*table);
  }
  if (!errors.empty()) return tl::make_unexpected(errors);
  return checks;
}

std::string formatted(const ValidateArguments& arguments, const Accuracy& accuracy, const std::vector<AssessedClaim>& claims) {
  const bool rows = !accuracy.rows.empty();
  switch (arguments.format) {
    case Format::json:
      return accuracy_json(accuracy, claims);
    case Format::csv:
      return rows ? accuracy_csv(accuracy) : claims_csv(claims);
    case Format::table:
      break;
  }
  return (rows ? accuracy_table(accuracy, arguments.rows) : "") + (rows && !claims.empty() ? "\n" : "") +
         (claims.empty() ? "" : claims_table(claims));
}

/// Why the check fails; empty if it does not.
std::string failure(const ValidateArguments& arguments, const Accuracy& accuracy) {
  const bool any =
      std::any_of(accuracy.rows.begin(), accuracy.rows.end(), [](const RowAccuracy& row) { return row.skipped.empty(); });
  if (!any && !accuracy.rows.empty()) return "no row could be predicted";
  if (!arguments.max_mean_ape) return "";
  if (accuracy.all.n == 0) return "no validation row could be predicted";
  if (accuracy.all.mean_ape <= *arguments.max_mean_ape) return "";
  return fmt::format("mean error {:.2f} % is above the allowed {:.2f} %", 100.0 * accuracy.all.mean_ape,
                     100.0 * *arguments.max_mean_ape);
}

}  // namespace

int run(const ValidateArguments& arguments, const Catalogue& catalogue) {
  const auto checks = read_checks(arguments.files);
  if (!checks) return report(checks.error());
  const auto session = open_session(catalogue);
  const Accuracy accuracy = assess(*session, checks->runs);
  const LeafSource leaves = verb_leaves(session);
  std::vector<AssessedClaim> claims;
  for (const Scenario& scenario : checks->scenarios) {
    for (AssessedClaim& claim : assess_claims(scenario, leaves)) claims.push_back(std::move(claim));
  }
  if (const int written = write_result(formatted(arguments, accuracy, claims)); written != kDone) return written;
  Errors problems;
  if (std::string problem = failure(arguments, accuracy); !problem.empty()) problems.push_back({std::move(problem)});
  const auto failing = std::count_if(claims.begin(), claims.end(), [](const AssessedClaim& c) { return !c.outcome.holds; });
  if (failing > 0) problems.push_back({fmt::format("{} of {} claims fail", failing, claims.size())});
  if (problems.empty()) return kDone;
  report(problems);
  return kCheckFailed;
}

}  // namespace tbdsim
