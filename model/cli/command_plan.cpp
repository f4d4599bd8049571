#include <atomic>
#include <csignal>

#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
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

Result<Answer> answer(const PlanArguments& arguments, Session& session) {
  if (const auto priced = session_with_prices(session, arguments.prices)) return answer(arguments, *priced);
  const auto plan = plan::make_plan(session, arguments.plan);
  if (!plan) return tl::make_unexpected(plan.error());
  std::vector<plan::Replanned> again;
  if (arguments.explain) again = plan::replan(session, arguments.plan, *plan);
  return Answer{formatted(arguments, *plan, again), plan->rows.front().prediction.notices};
}

int run(const PlanArguments& arguments, const Catalogue& catalogue) {
  PlanArguments stoppable = arguments;
  stoppable.plan.stop = &interrupted();
  std::signal(SIGINT, note_interruption);
  return deliver(answer(stoppable, *open_session(catalogue)));
}

}  // namespace tbdsim
