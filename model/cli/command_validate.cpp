#include <fmt/format.h>

#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
#include "model/report/accuracy_table.hpp"
#include "model/report/csv.hpp"
#include "model/report/json.hpp"

namespace tbdsim {
namespace {

bool is_scenario(const std::string& path) { return path.size() > 5 && path.compare(path.size() - 5, 5, ".toml") == 0; }

Result<std::vector<MeasuredRun>> read_tables(const std::vector<std::string>& paths) {
  std::vector<MeasuredRun> runs;
  Errors errors;
  for (const std::string& path : paths) {
    if (is_scenario(path)) {
      errors.push_back({fmt::format("scenario files are not supported yet, only measured-run tables (CSV): \"{}\"", path)});
      continue;
    }
    auto table = read_measured_table(path);
    if (!table)
      errors.insert(errors.end(), table.error().begin(), table.error().end());
    else
      runs.insert(runs.end(), std::make_move_iterator(table->begin()), std::make_move_iterator(table->end()));
  }
  if (!errors.empty()) return tl::make_unexpected(errors);
  return runs;
}

std::string formatted(const ValidateArguments& arguments, const Accuracy& accuracy) {
  switch (arguments.format) {
    case Format::json:
      return accuracy_json(accuracy);
    case Format::csv:
      return accuracy_csv(accuracy);
    case Format::table:
      break;
  }
  return accuracy_table(accuracy, arguments.rows);
}

/// Why the check fails; empty if it does not.
std::string failure(const ValidateArguments& arguments, const Accuracy& accuracy) {
  const bool any =
      std::any_of(accuracy.rows.begin(), accuracy.rows.end(), [](const RowAccuracy& row) { return row.skipped.empty(); });
  if (!any) return "no row could be predicted";
  if (!arguments.max_mean_ape) return "";
  if (accuracy.all.n == 0) return "no validation row could be predicted";
  if (accuracy.all.mean_ape <= *arguments.max_mean_ape) return "";
  return fmt::format("mean error {:.2f} % is above the allowed {:.2f} %", 100.0 * accuracy.all.mean_ape,
                     100.0 * *arguments.max_mean_ape);
}

}  // namespace

int run(const ValidateArguments& arguments, const Catalogue& catalogue) {
  const auto runs = read_tables(arguments.files);
  if (!runs) return report(runs.error());
  const auto session = open_session(catalogue);
  const Accuracy accuracy = assess(*session, *runs);
  if (const int written = write_result(formatted(arguments, accuracy)); written != kDone) return written;
  const std::string problem = failure(arguments, accuracy);
  if (problem.empty()) return kDone;
  report({Error{problem}});
  return kCheckFailed;
}

}  // namespace tbdsim
