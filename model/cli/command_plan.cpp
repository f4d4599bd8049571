#include <fmt/format.h>

#include <atomic>
#include <csignal>

#include "model/cli/command.hpp"
#include "model/cli/framework_settings.hpp"
#include "model/cli/output.hpp"
#include "model/configuration/session.hpp"
#include "model/input/output_file.hpp"
#include "model/plan/plan_part.hpp"
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

/// The best layout as settings of a framework, in place of the rows.
Result<Answer> settings(const PlanArguments& arguments, Session& session, const plan::Plan& plan) {
  const plan::PlanRow& best = plan.rows.front();
  return framework_settings(session, best.options, arguments.framework).map([&](Answer answer) {
    answer.notices.push_back("the best layout: " + plan::predict_command(best.options));
    answer.notices.insert(answer.notices.end(), plan.notices.begin(), plan.notices.end());
    if (plan.interrupted) answer.notices.emplace_back("interrupted: layouts that were not tried may be better");
    return answer;
  });
}

/// What a part has found goes to a file.
Result<Answer> part(const PlanArguments& arguments, Session& session) {
  if (!arguments.joined.empty() || !arguments.framework.empty() || arguments.explain || arguments.report.asked() ||
      arguments.format != Format::table)
    return fail("plan: -o writes what one --shard found: leave out --join, --as, --explain, --report and --format");
  const OutputFile file{arguments.output, std::string(plan::kPartMark)};
  if (const auto free = file.check(); !free) return tl::make_unexpected(free.error());
  const auto found = plan::search_part(session, arguments.plan);
  if (!found) return tl::make_unexpected(found.error());
  if (const auto written = file.write(plan::to_csv(*found)); !written) return tl::make_unexpected(written.error());
  std::int64_t tried = 0;
  bool interrupted = false;
  for (const plan::Found& job : found->jobs) {
    tried += job.counts.tried;
    interrupted = interrupted || job.interrupted;
  }
  Answer answer{
      fmt::format("{}: part {} of {}, {} layouts; the same options with --join and the files of all parts make the plan\n",
                  arguments.output, found->shard + 1, found->shards, tried),
      {}};
  if (interrupted) answer.notices.emplace_back("interrupted: this part holds only layouts that were tried, and the plan says so");
  return answer;
}

/// The plan of a search, or of its parts.
Result<plan::Plan> planned(const PlanArguments& arguments, Session& session) {
  if (arguments.joined.empty()) return plan::make_plan(session, arguments.plan);
  if (arguments.plan.shards > 1) return fail("plan: --join takes all parts: leave out --shard");
  if (arguments.explain) return fail("plan: --explain plans again, and --join does not search: leave out one of them");
  return plan::join_parts(session, arguments.plan, arguments.joined).and_then([&](const plan::PlanPart& all) {
    return plan::make_plan(session, arguments.plan, &all);
  });
}

}  // namespace

Result<Answer> answer(const PlanArguments& arguments, Session& session) {
  if (const auto priced = session_with_prices(session, arguments.prices)) return answer(arguments, *priced);
  if (!arguments.output.empty()) return part(arguments, session);
  if (!arguments.framework.empty() && (arguments.explain || arguments.report.asked() || arguments.format != Format::table))
    return tl::make_unexpected(
        Errors{{"--as writes the settings of the best layout alone: leave out --format, --report and --explain"}});
  if (const auto sound = arguments.report.check(); !sound) return tl::make_unexpected(sound.error());
  const auto plan = planned(arguments, session);
  if (!plan) return tl::make_unexpected(plan.error());
  if (!arguments.framework.empty()) return settings(arguments, session, *plan);
  std::vector<std::string> notices = plan->notices;
  const std::vector<std::string>& of_best = plan->rows.front().prediction.notices;
  notices.insert(notices.end(), of_best.begin(), of_best.end());
  std::vector<plan::Replanned> again;
  if (arguments.explain) again = plan::replan(session, arguments.plan, *plan);
  return with_page(
      arguments.report, "plan", [&] { return plan_json(*plan, arguments.plan.objective, again); },
      Answer{formatted(arguments, *plan, again), std::move(notices)});
}

int run(const PlanArguments& arguments, const Catalogue& catalogue) {
  PlanArguments stoppable = arguments;
  stoppable.plan.stop = &interrupted();
  std::signal(SIGINT, note_interruption);
  return deliver(with_progress(stoppable.plan, [&](const plan::PlanOptions& shown) {
    stoppable.plan.progress = shown.progress;
    return answer(stoppable, *open_session(catalogue));
  }));
}

}  // namespace tbdsim
