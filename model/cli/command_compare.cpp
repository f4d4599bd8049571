#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/cli/command.hpp"
#include "model/configuration/configure.hpp"
#include "model/configuration/network_notices.hpp"
#include "model/configuration/session.hpp"
#include "model/hardware/price.hpp"
#include "model/report/compare_report.hpp"
#include "model/report/json.hpp"
#include "model/study/compare.hpp"
#include "model/study/grid_names.hpp"
#include "model/support/drop_repeated.hpp"

namespace tbdsim {
namespace {

/// Keeps the first of equal values, and says so.
void keep_first(GridAxis& axis, std::vector<std::string>& notices) {
  for (const std::string& value : drop_repeated(axis.values))
    notices.push_back(fmt::format("--{}: {} is named more than once, and compared once", axis.option, value));
}

/// Networks that no candidate uses.
void tell_unused_network(const StudyGrid& grid, const Comparison& comparison, std::vector<std::string>& notices) {
  const auto network = std::find_if(grid.axes.begin(), grid.axes.end(), [](const GridAxis& a) { return a.option == "network"; });
  const auto uses = [](const Candidate& c) { return c.problem.empty() && c.prediction.job.nodes > 1; };
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

/// Prices of the user's own list that are of nothing compared: a slip of a name, or of no use here.
void tell_unused_prices(Session& session, const StudyGrid& grid, const std::vector<Price>& prices, const std::string& file,
                        std::vector<std::string>& notices) {
  std::set<std::string> used;
  for (const GridAxis& axis : grid.axes) {
    if (axis.option != "hw") continue;
    for (const std::string& name : axis.values)
      if (const auto system = session.system(name, 1); *system)
        used.insert({(*system)->id, (*system)->device.id, (*system)->host.id});
  }
  for (const Price& price : prices) {
    const std::string& subject = price.device ? *price.device : price.system.empty() ? price.host : price.system;
    if (price.own && used.count(subject) == 0)
      notices.push_back(fmt::format("{}: no candidate is or holds \"{}\"", file, subject));
  }
}

std::string formatted(const CompareArguments& arguments, const Comparison& comparison) {
  switch (arguments.format) {
    case Format::json:
      return compare_json(comparison, arguments.terms);
    case Format::csv:
      return compare_csv(comparison, arguments.terms);
    case Format::table:
      break;
  }
  return compare_table(comparison, arguments.terms);
}

}  // namespace

Result<Answer> answer(const CompareArguments& arguments, Session& session) {
  if (const auto priced = session_with_prices(session, arguments.prices)) return answer(arguments, *priced);
  StudyGrid grid{{}, arguments.set};
  Errors errors;
  std::vector<std::string> notices;
  for (const auto& [option, text] : arguments.axes) {
    auto axis = parse_axis(option, text);
    if (!axis) {
      errors.insert(errors.end(), axis.error().begin(), axis.error().end());
      continue;
    }
    keep_first(*axis, notices);
    grid.axes.push_back(std::move(*axis));
  }
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  if (Errors unknown = unknown_names(session, grid); !unknown.empty()) return tl::make_unexpected(std::move(unknown));
  const auto prices = session.prices();
  if (!*prices) return tl::make_unexpected(prices->error());
  const auto comparison = compare(session, grid, static_cast<std::size_t>(arguments.base.value_or(1) - 1), arguments.progress);
  if (!comparison) return tl::make_unexpected(comparison.error());
  tell_unused_network(grid, *comparison, notices);
  tell_machines(session, grid, notices);
  tell_unused_prices(session, grid, **prices, arguments.prices, notices);
  return with_page(
      arguments.report, "compare", [&] { return compare_json(*comparison, arguments.terms); },
      Answer{formatted(arguments, *comparison), notices});
}

int run(const CompareArguments& arguments, const Catalogue& catalogue) {
  return deliver(
      with_progress(arguments, [&](const CompareArguments& shown) { return answer(shown, *open_session(catalogue)); }));
}

}  // namespace tbdsim
