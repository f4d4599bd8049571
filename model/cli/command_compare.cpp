#include "model/analysis/compare.hpp"
#include "model/analysis/grid_names.hpp"
#include "model/cli/command.hpp"
#include "model/report/compare_report.hpp"
#include "model/report/json.hpp"

namespace tbdsim {

Result<Answer> answer(const CompareArguments& arguments, Session& session) {
  StudyGrid grid{{}, arguments.set};
  Errors errors;
  for (const auto& [option, text] : arguments.axes) {
    auto axis = parse_axis(option, text);
    if (axis)
      grid.axes.push_back(std::move(*axis));
    else
      errors.insert(errors.end(), axis.error().begin(), axis.error().end());
  }
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  if (Errors unknown = unknown_names(session, grid); !unknown.empty()) return tl::make_unexpected(std::move(unknown));
  const auto comparison = compare(session, grid, static_cast<std::size_t>(arguments.base - 1));
  if (!comparison) return tl::make_unexpected(comparison.error());
  switch (arguments.format) {
    case Format::json:
      return Answer{compare_json(*comparison), {}};
    case Format::csv:
      return Answer{compare_csv(*comparison), {}};
    case Format::table:
      break;
  }
  return Answer{compare_table(*comparison), {}};
}

int run(const CompareArguments& arguments, const Catalogue& catalogue) {
  return deliver(answer(arguments, *open_session(catalogue)));
}

}  // namespace tbdsim
