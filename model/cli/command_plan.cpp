#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>

#include "model/cli/command.hpp"
#include "model/cli/framework_settings.hpp"
#include "model/cli/output.hpp"
#include "model/configuration/framework_arguments/framework.hpp"
#include "model/configuration/session.hpp"
#include "model/input/output_file.hpp"
#include "model/plan/plan_part.hpp"
#include "model/plan/predict_command.hpp"
#include "model/report/plan_report.hpp"
#include "model/units/format.hpp"

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

/// "38.4 s and 233 GB of 85.5 GB".
std::string figures(const Prediction& prediction) {
  Bytes most(0.0);
  for (const GpuMemory& gpu : prediction.memory.gpus) most = std::max(most, gpu.peak);
  return fmt::format("{} and {} of {}", format(prediction.step_time.value), format(most), format(prediction.memory.capacity));
}

/// Compares the best layout with what its settings alone say of it: the framework sees nothing else. Errors: settings of a job
/// that does not fit or cannot be predicted.
Result<void> check_settings(const PlanArguments& arguments, const plan::PlanRow& row, FrameworkSettings& settings) {
  constexpr double kSame = 0.001;  // of the step time
  const Prediction& best = row.prediction;
  const Result<Prediction>& back = *settings.read_back;
  const std::string lost =
      settings.lost.empty() ? "" : fmt::format("; {} has no setting for {}", settings.title, fmt::join(settings.lost, ", "));
  const std::string leave =
      row.options.stack == settings.stack ? "" : fmt::format("; without --stack plan searches what {} runs", settings.stack);
  if (!back)
    return fail(fmt::format("--as {}: read back, the settings of the best layout say no job: {}{}{}", arguments.framework,
                            back.error().front().message, lost, leave));
  const std::string told = fmt::format("{}, where the best layout takes {}", figures(*back), figures(best));
  if (!back->memory.fits)
    return fail(fmt::format("--as {}: the settings of the best layout do not run: read back with {} they take {}{}{}",
                            arguments.framework, settings.stack, told, lost, leave));
  const double ratio = back->step_time.value / best.step_time.value;
  if (std::abs(ratio - 1.0) > kSame || !lost.empty())
    settings.answer.notices.push_back(fmt::format("read back with {}, the settings take {}", settings.stack, told));
  return {};
}

/// The best layout as settings of a framework, in place of the rows.
Result<Answer> settings(const PlanArguments& arguments, Session& session, const plan::Plan& plan) {
  const plan::PlanRow& best = plan.rows.front();
  auto written = framework_settings(session, best.options, arguments.framework, true);
  if (!written) return tl::make_unexpected(written.error());
  if (const auto runs = check_settings(arguments, best, *written); !runs) return tl::make_unexpected(runs.error());
  Answer answer = std::move(written->answer);
  answer.notices.push_back("the best layout: " + plan::predict_command(best.options));
  answer.notices.insert(answer.notices.end(), plan.notices.begin(), plan.notices.end());
  if (plan.interrupted) answer.notices.emplace_back("interrupted: layouts that were not tried may be better");
  return answer;
}

/// Plans with the stack of the framework whose settings are written, where none is asked for: the one that reads them back.
Result<PlanArguments> with_stack(const PlanArguments& arguments, Session& session) {
  const auto framework = load_framework(session.catalogue().root, arguments.framework);
  if (!framework) return tl::make_unexpected(framework.error());
  PlanArguments own = arguments;
  const bool several =
      std::any_of(own.plan.tried.begin(), own.plan.tried.end(), [](const GridAxis& axis) { return axis.option == "stack"; });
  if (!own.plan.job.stack.empty() || !own.plan.job.layout_from.empty() || several) return own;
  // The frameworks' own stacks are of NVIDIA's GPUs.
  const std::string& hardware = own.plan.hardware.empty() ? own.plan.job.hardware : own.plan.hardware.front();
  const auto system = hardware.empty() ? nullptr : session.system(hardware, 1);
  if (system != nullptr && *system && (*system)->device.vendor == Vendor::nvidia) own.plan.job.stack = framework->stack;
  return own;
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
  if (!arguments.framework.empty()) {
    const auto own = with_stack(arguments, session);
    if (!own) return tl::make_unexpected(own.error());
    return planned(*own, session).and_then([&](const plan::Plan& plan) { return settings(*own, session, plan); });
  }
  const auto plan = planned(arguments, session);
  if (!plan) return tl::make_unexpected(plan.error());
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
    PlanArguments told = stoppable;
    told.plan.progress = shown.progress;
    return answer(told, *open_session(catalogue));
  }));
}

}  // namespace tbdsim
