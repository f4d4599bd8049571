#include <fmt/format.h>

#include <algorithm>

#include "model/cli/command.hpp"
#include "model/configuration/configure.hpp"
#include "model/configuration/network_notices.hpp"
#include "model/configuration/session.hpp"
#include "model/report/compare_report.hpp"
#include "model/report/json.hpp"
#include "model/study/compare.hpp"
#include "model/study/grid_names.hpp"

namespace tbdsim {
namespace {

/// Keeps the first of equal values, and says so.
void drop_repeated(GridAxis& axis, std::vector<std::string>& notices) {
  std::vector<std::string> once;
  for (std::string& value : axis.values) {
    if (std::find(once.begin(), once.end(), value) == once.end())
      once.push_back(std::move(value));
    else
      notices.push_back(fmt::format("--{}: {} is named more than once, and compared once", axis.option, value));
  }
  axis.values = std::move(once);
}

/// Networks that no candidate uses.
void tell_unused_network(const StudyGrid& grid, const Comparison& comparison, std::vector<std::string>& notices) {
  const auto network = std::find_if(grid.axes.begin(), grid.axes.end(), [](const GridAxis& a) { return a.option == "network"; });
  const auto uses = [](const Candidate& c) { return c.problem.empty() && c.prediction.nodes > 1; };
  if (network != grid.axes.end() && std::none_of(comparison.candidates.begin(), comparison.candidates.end(), uses))
    notices.push_back(one_node_notice(fmt::format("network {}", fmt::join(network->values, ", "))));
}

/// What users of these machines must know.
void tell_machines(Session& session, const StudyGrid& grid, std::vector<std::string>& notices) {
  for (const GridAxis& axis : grid.axes) {
    if (axis.option != "hw") continue;
    for (const std::string& name : axis.values) {
      const auto system = session.system(name, 1);
      if (*system && !(*system)->notice.empty()) notices.push_back((*system)->notice);
    }
  }
}

}  // namespace

Result<Answer> answer(const CompareArguments& arguments, Session& session) {
  StudyGrid grid{{}, arguments.set};
  Errors errors;
  std::vector<std::string> notices;
  for (const auto& [option, text] : arguments.axes) {
    auto axis = parse_axis(option, text);
    if (!axis) {
      errors.insert(errors.end(), axis.error().begin(), axis.error().end());
      continue;
    }
    drop_repeated(*axis, notices);
    grid.axes.push_back(std::move(*axis));
  }
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  if (Errors unknown = unknown_names(session, grid); !unknown.empty()) return tl::make_unexpected(std::move(unknown));
  const auto comparison = compare(session, grid, static_cast<std::size_t>(arguments.base.value_or(1) - 1));
  if (!comparison) return tl::make_unexpected(comparison.error());
  tell_unused_network(grid, *comparison, notices);
  tell_machines(session, grid, notices);
  switch (arguments.format) {
    case Format::json:
      return Answer{compare_json(*comparison), notices};
    case Format::csv:
      return Answer{compare_csv(*comparison), notices};
    case Format::table:
      break;
  }
  return Answer{compare_table(*comparison), notices};
}

int run(const CompareArguments& arguments, const Catalogue& catalogue) {
  return deliver(answer(arguments, *open_session(catalogue)));
}

}  // namespace tbdsim
