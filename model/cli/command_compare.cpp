#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/cli/command.hpp"
#include "model/configuration/configure.hpp"
#include "model/configuration/session.hpp"
#include "model/hardware/price.hpp"
#include "model/prediction/step_prediction.hpp"
#include "model/report/compare_report.hpp"
#include "model/report/json.hpp"
#include "model/study/compare.hpp"
#include "model/study/grid_names.hpp"
#include "model/study/idle_options.hpp"
#include "model/study/market.hpp"
#include "model/support/drop_repeated.hpp"

namespace tbdsim {
namespace {

/// Keeps the first of equal values, and says so.
void keep_first(GridAxis& axis, std::vector<std::string>& notices) {
  for (const std::string& value : drop_repeated(axis.values))
    notices.push_back(fmt::format("--{}: {} is named more than once, and compared once", axis.option, value));
}

/// Options and changed values without effect.
void tell_idle_options(const Comparison& comparison, std::vector<std::string>& notices) {
  IdleOptions idle;
  for (const Candidate& candidate : comparison.candidates)
    if (candidate.problem.empty()) idle.add(candidate.prediction.notices);
  for (std::string& notice : idle.notices("candidates")) notices.push_back(std::move(notice));
}

/// Candidates whose steps hang on CPUs that are taken to differ, though nothing names them.
void tell_assumed_hosts(const Comparison& comparison, std::vector<std::string>& notices) {
  std::vector<std::string> labels;
  std::set<std::string> told;
  for (const Candidate& candidate : comparison.candidates)
    for (const std::string& notice : candidate.prediction.notices) {
      if (!notice.starts_with(kUnnamedCpu)) continue;
      labels.push_back(candidate.label);
      told.insert(notice);
    }
  if (told.size() < 2) return;
  notices.push_back(
      fmt::format("{} of {}, which the host limits: each is taken to have one as old as the board, so part of the "
                  "difference is the CPU's; one for all: --set hw.host.single_thread=0.9",
                  kUnnamedCpu, fmt::join(labels, ", ")));
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

/// All priced hardware in place of what was not named, or named "all". Errors: without a budget or another term there is no
/// order.
Result<bool> take_all_hardware(const CompareArguments& arguments, Session& session, StudyGrid& grid) {
  const auto named = [&](std::string_view option) {
    return std::find_if(grid.axes.begin(), grid.axes.end(), [&](const GridAxis& axis) { return axis.option == option; });
  };
  const auto hardware = named("hw");
  if (hardware != grid.axes.end() && hardware->values != std::vector<std::string>{std::string(kAllHardware)}) return false;
  if (hardware == grid.axes.end() && !(arguments.terms && arguments.terms->budget)) return false;
  if (!arguments.terms) return fail("--hw all: add --budget, such as --budget '40000 USD', to choose among all that has a price");
  if (arguments.base) return fail("--base: with all hardware the best is what the others are held against");
  if (hardware != grid.axes.end()) grid.axes.erase(hardware);
  if (named("gpus") == grid.axes.end()) grid.axes.insert(grid.axes.begin(), {"gpus", {"1", "2", "4", "8"}});
  grid.axes.insert(grid.axes.begin(), {"hw", priced_hardware(session)});
  return true;
}

/// The best of all priced hardware. Errors: nothing is within the budget, or holds the job.
Result<Comparison> choose(const CompareArguments& arguments, Session& session, const StudyGrid& grid,
                          std::vector<std::string>& notices) {
  constexpr std::size_t kMostShown = 12;
  auto candidates = candidates_of(session, grid, arguments.progress);
  if (!candidates) return tl::make_unexpected(candidates.error());
  const std::string fitting = what_would_fit(session, grid, *candidates);
  MarketChoice choice = best_of(session, std::move(*candidates), *arguments.terms, kMostShown);
  const std::size_t dear = choice.tried - choice.too_large - choice.affordable;
  const std::string tried = fmt::format("{} choices among {} priced boards and machines: {} have too little memory, {}{} remain",
                                        choice.tried, grid.axes.front().values.size(), choice.too_large,
                                        dear > 0 ? fmt::format("{} cost too much, ", dear) : "", choice.affordable);
  if (choice.kept.empty()) return fail(tried + (fitting.empty() ? "" : "; " + fitting));
  notices.push_back(fmt::format("{}; shown are the best {} by {}", tried, choice.kept.size(), name(arguments.terms->objective)));
  for (const std::string& network : choice.left_out)
    notices.push_back(
        fmt::format("{}: no choice has the memory and keeps the budget; ask for it alone, or with other options", network));
  return std::move(choice.comparison);
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

Result<Answer> answer(const CompareArguments& given, Session& session) {
  if (const auto priced = session_with_prices(session, given.prices)) return answer(given, *priced);
  CompareArguments arguments = given;
  if (arguments.terms && !arguments.terms->cooling) {
    const auto operations = session.operations();
    if (!*operations) return tl::make_unexpected(operations->error());
    arguments.terms->cooling = (**operations).energy.pue;
  }
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
  const auto all = take_all_hardware(arguments, session, grid);
  if (!all) return tl::make_unexpected(all.error());
  if (Errors unknown = unknown_names(session, grid); !unknown.empty()) return tl::make_unexpected(std::move(unknown));
  const auto prices = session.prices();
  if (!*prices) return tl::make_unexpected(prices->error());
  const auto comparison =
      *all ? choose(arguments, session, grid, notices)
           : compare(session, grid, static_cast<std::size_t>(arguments.base.value_or(1) - 1), arguments.progress);
  if (!comparison) return tl::make_unexpected(comparison.error());
  tell_idle_options(*comparison, notices);
  tell_assumed_hosts(*comparison, notices);
  if (!*all) {
    tell_machines(session, grid, notices);
    if (std::string fitting = what_would_fit(session, grid, comparison->candidates); !fitting.empty())
      notices.push_back(std::move(fitting));
  }
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
