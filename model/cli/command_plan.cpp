#include <atomic>
#include <csignal>

#include "model/cli/command.hpp"
#include "model/configuration/session.hpp"
#include "model/report/plan_report.hpp"

namespace tbdsim {
namespace {

/// Set by the first interruption; a second one ends the program.
std::atomic<bool>& interrupted() {
  static std::atomic<bool> flag{false};
  return flag;
}

extern "C" void note_interruption(int signal) {
  interrupted() = true;
  std::signal(signal, SIG_DFL);
}

std::string formatted(const PlanArguments& arguments, const plan::Plan& plan, const std::vector<plan::Replanned>& again) {
  switch (arguments.format) {
    case Format::json:
      return plan_json(plan, arguments.plan.objective, again);
    case Format::csv:
      return plan_csv(plan);
    case Format::table:
      break;
  }
  return plan_table(plan, arguments.plan.objective, again);
}

}  // namespace

int run(const PlanArguments& arguments, const Catalogue& catalogue) {
  Catalogue with_prices = catalogue;
  with_prices.own_prices = arguments.prices;
  const auto session = open_session(with_prices);
  plan::PlanOptions options = arguments.plan;
  options.stop = &interrupted();
  std::signal(SIGINT, note_interruption);
  const auto plan = plan::make_plan(*session, options);
  if (!plan) return report(plan.error());
  std::vector<plan::Replanned> again;
  if (arguments.explain) again = plan::replan(*session, options, *plan);
  report_notices(plan->rows.front().prediction.notices);
  return write_result(formatted(arguments, *plan, again));
}

}  // namespace tbdsim
