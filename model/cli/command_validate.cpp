#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "model/cli/command.hpp"
#include "model/cli/leaf_source.hpp"
#include "model/cli/output.hpp"
#include "model/input/toml_reader.hpp"
#include "model/report/accuracy_table.hpp"
#include "model/report/claims_report.hpp"
#include "model/report/csv.hpp"
#include "model/report/json.hpp"
#include "model/report/thinned_pages.hpp"
#include "model/validation/assess.hpp"

namespace tbdsim {
namespace {

bool is_scenario(const std::string& path) { return path.size() > 5 && path.compare(path.size() - 5, 5, ".toml") == 0; }

/// Tables and scenarios in a folder and below, in the order of their names; other TOML files are passed over. Errors: a folder
/// that cannot be read.
Result<std::vector<std::string>> files_of(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code problem;
  std::string reading = folder;
  const std::filesystem::recursive_directory_iterator end;
  for (std::filesystem::recursive_directory_iterator entry(folder, problem); !problem && entry != end; entry.increment(problem)) {
    const std::string path = entry->path().string();
    reading = path;
    if (entry->path().extension() == ".csv") files.push_back(path);
    if (!is_scenario(path)) continue;
    auto file = TomlFile::open(path);
    if (!file || file->root().has("study")) files.push_back(path);
  }
  if (problem) return tl::make_unexpected(Errors{{fmt::format("cannot read: {}", problem.message()), {reading, 0, 0}}});
  if (files.empty()) return fail(fmt::format("{}: no measured-run table and no scenario in this folder", folder));
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::vector<std::string>> expanded(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
      files.push_back(path);
      continue;
    }
    const auto inside = files_of(path);
    if (!inside) return tl::make_unexpected(inside.error());
    files.insert(files.end(), inside->begin(), inside->end());
  }
  return files;
}

/// What the files hold: rows to predict and claims to evaluate.
struct Checks {
  std::vector<MeasuredRun> runs;
  std::vector<Scenario> scenarios;
};

Result<Checks> read_checks(const std::vector<std::string>& paths) {
  Checks checks;
  Errors errors;
  // A table may be named by itself and by a scenario, and counts once.
  std::set<std::tuple<std::string, std::string, std::string>> known;
  const auto add = [&](std::vector<MeasuredRun>& runs) {
    for (MeasuredRun& run : runs)
      if (known.emplace(run.group, run.id, run.metric).second) checks.runs.push_back(std::move(run));
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
  if (arguments.summary) return accuracy_summary(accuracy) + (claims.empty() ? "" : count_text(count(claims)) + '\n');
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
  const auto left_out = std::find_if(accuracy.rows.begin(), accuracy.rows.end(),
                                     [](const RowAccuracy& row) { return !row.fit && !row.skipped.empty(); });
  if (left_out != accuracy.rows.end())
    return fmt::format("{} was not predicted ({}), so the mean is not that of all rows", left_out->id, left_out->skipped);
  if (accuracy.all.mean_ape <= *arguments.max_mean_ape) return "";
  return fmt::format("mean error {:.2f} % is above the allowed {:.2f} %", 100.0 * accuracy.all.mean_ape,
                     100.0 * *arguments.max_mean_ape);
}

/// Rows and claims set against their predictions.
struct Validation {
  Accuracy accuracy;
  std::vector<AssessedClaim> claims;
};

Result<Validation> validated(const ValidateArguments& arguments, Session& session) {
  if (arguments.rows && arguments.summary) return fail("validate: --summary leaves rows out, --rows shows them; ask for one");
  if ((arguments.rows || arguments.summary) && arguments.format != Format::table)
    return fail(fmt::format("validate: {} is about the table: csv and json hold every row and no summary",
                            arguments.rows ? "--rows" : "--summary"));
  const auto files = expanded(arguments.files);
  if (!files) return tl::make_unexpected(files.error());
  const auto checks = read_checks(*files);
  if (!checks) return tl::make_unexpected(checks.error());
  Validation found{assess(session, checks->runs, arguments.progress), {}};
  const LeafSource leaves = verb_leaves(session);
  for (const Scenario& scenario : checks->scenarios)
    for (AssessedClaim& claim : assess_claims(scenario, leaves, arguments.progress)) found.claims.push_back(std::move(claim));
  return found;
}

/// Why the checks fail.
Errors failures(const ValidateArguments& arguments, const Validation& found) {
  Errors problems;
  if (std::string problem = failure(arguments, found.accuracy); !problem.empty()) problems.push_back({std::move(problem)});
  if (std::string failing = failing_text(count(found.claims)); !failing.empty()) problems.push_back({std::move(failing)});
  return problems;
}

std::vector<std::string> messages(const Errors& problems) {
  std::vector<std::string> texts;
  for (const Error& problem : problems) texts.push_back(problem.message);
  return texts;
}

}  // namespace

Result<Answer> answer(const ValidateArguments& arguments, Session& session) {
  return validated(arguments, session).and_then([&](const Validation& found) {
    const std::vector<std::string> notices = messages(failures(arguments, found));
    return with_page(
        arguments.report, "validate", [&] { return validate_page_data(found.accuracy, found.claims); },
        Answer{formatted(arguments, found.accuracy, found.claims), notices});
  });
}

int run(const ValidateArguments& arguments, const Catalogue& catalogue) {
  if (const auto free = arguments.report.check(); !free) return report(free.error());
  const auto found =
      with_progress(arguments, [&](const ValidateArguments& shown) { return validated(shown, *open_session(catalogue)); });
  if (!found) return report(found.error());
  const auto& [accuracy, claims] = *found;
  if (arguments.format == Format::csv && !accuracy.rows.empty() && !claims.empty())
    report_notices({fmt::format("the CSV holds rows; {} claims are left out, --format json has both", claims.size())});
  if (const int written = write_result(formatted(arguments, accuracy, claims)); written != kDone) return written;
  // One CSV has the columns of one kind: rows come first.
  if (arguments.format == Format::csv && !claims.empty())
    report_notices({accuracy.rows.empty() ? count_text(count(claims))
                                          : fmt::format("the CSV holds the rows; for the claims ({}), use --format json or name "
                                                        "their files alone",
                                                        count_text(count(claims)))});
  const Errors problems = failures(arguments, *found);
  if (arguments.report.asked()) {
    const std::string data = validate_page_data(accuracy, claims);
    if (const auto page = arguments.report.write("validate", data, messages(problems)); !page) return report(page.error());
  }
  if (problems.empty()) return kDone;
  report(problems);
  return kCheckFailed;
}

}  // namespace tbdsim
