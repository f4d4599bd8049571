#include "model/study/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/configuration/configure.hpp"
#include "model/prediction/host_work.hpp"
#include "model/prediction/predict.hpp"
#include "model/study/measured_families.hpp"
#include "model/study/trace_doubts.hpp"
#include "model/trace/breakdown.hpp"
#include "model/trace/read_trace.hpp"
#include "model/trace/rerun.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

using trace::WorkFamily;

/// Standard deviations from the median to either end of an 80 % range.
constexpr double kRangeDeviations = 1.2815515655446004;
/// Factors nearer to 1 are no change.
constexpr double kNoChange = 1e-9;

Seconds of_kernels(const FamilyTimes& times) {
  Seconds all(0.0);
  for (const trace::WorkFamilyInfo& info : trace::work_families())
    if (info.kind != WorkFamily::exchange && info.kind != WorkFamily::copy) all += of(times, info.kind);
  return all;
}

Seconds of_host(const Prediction& prediction) {
  Seconds all(0.0);
  for (const HostTime& time : prediction.detail.host)
    if (time.thread == kHostThread) all += time.time;
  return all;
}

double ratio(Seconds after, Seconds before) { return before > Seconds(0.0) && after > Seconds(0.0) ? after / before : 1.0; }

/// What the changes do to each family.
void find_factors(const Prediction& before, const Prediction& after, StepReplay& result, trace::Factors& factors) {
  const FamilyTimes then = predicted_families(before), now = predicted_families(after);
  const double kernels = ratio(of_kernels(now), of_kernels(then));
  const double batch = static_cast<double>(after.job.batch_per_gpu) / before.job.batch_per_gpu;
  for (ReplayedFamily& family : result.families) {
    family.own = of(then, family.family) > Seconds(0.0) && of(now, family.family) > Seconds(0.0);
    family.factor = family.own                              ? of(now, family.family) / of(then, family.family)
                    : family.family == WorkFamily::copy     ? batch
                    : family.family == WorkFamily::exchange ? 1.0
                                                            : kernels;
    family.replayed = family.factor * family.measured;
    factors.work[static_cast<std::size_t>(family.family)] = family.factor;
  }
  result.host_factor = factors.host = ratio(of_host(after), of_host(before));
}

/// Changes of what runs beside what: a trace holds one order of its work, and no factor makes another of it.
Errors reordering(Session& session, const PredictOptions& options) {
  Errors errors;
  if (options.set.empty()) return errors;
  const auto inputs = edited_inputs(session, options);
  if (!*inputs) return inputs->error();
  for (const Edit& edit : (**inputs).session->catalogue().edits->changes) {
    const std::string name = edit.key.substr(edit.key.rfind('.') + 1);
    if (name.find("overlap") != std::string::npos && name != "overlap_cost")
      errors.push_back(
          {fmt::format("--from-trace: {}: a replay scales the work of a trace and leaves what runs beside what; "
                       "predict without --from-trace",
                       edit.text)});
  }
  return errors;
}

/// Whether any part of the trace takes longer or less than it did.
bool scales(const StepReplay& result) {
  const auto changed = [](double factor) { return std::abs(factor - 1.0) > kNoChange; };
  return changed(result.host_factor) || std::any_of(result.families.begin(), result.families.end(),
                                                    [&](const ReplayedFamily& family) { return changed(family.factor); });
}

Errors unfit(const Prediction& before, const Prediction& after, const trace::Trace& recorded, const StepReplay& result) {
  if (before.division.by_layers || after.division.by_layers)
    return {
        {"--from-trace: scales steps that are simulated kernel by kernel; this one is simulated layer by layer (a divided "
         "network, sharded "
         "states, a stack made for these)"}};
  if (recorded.on_host)
    return {
        {fmt::format("--from-trace: {} holds operators of the host alone, no device; changes of the machine or the batch scale "
                     "kernels of a GPU",
                     result.file)}};
  const bool exchanged = std::any_of(result.families.begin(), result.families.end(),
                                     [](const ReplayedFamily& f) { return f.family == WorkFamily::exchange; });
  if (!exchanged && !after.detail.exchanges.empty())
    return {{fmt::format("--from-trace: {} holds no exchange, with which {} GPUs would begin; trace a job on 2 GPUs or more",
                         result.file, after.job.gpus)}};
  return {};
}

/// Families whose measured and predicted time are further apart than any machine is from its prediction: the trace is of another
/// job. Empty: none.
std::string of_another_job(const StepReplay& result, const Prediction& before) {
  constexpr double kApart = 10.0, kShare = 0.05;  // times; of the longer of both steps
  const FamilyTimes predicted = predicted_families(before);
  const Seconds noticed = kShare * std::max(result.measured, before.step_time.value);
  std::vector<std::string> apart;
  for (const trace::WorkFamilyInfo& info : trace::work_families()) {
    if (info.kind == WorkFamily::exchange) continue;  // waits for other ranks are part of it
    const auto found = std::find_if(result.families.begin(), result.families.end(),
                                    [&](const ReplayedFamily& family) { return family.family == info.kind; });
    const Seconds seen = found == result.families.end() ? Seconds(0.0) : found->measured, thought = of(predicted, info.kind);
    const Seconds least = std::min(seen, thought), most = std::max(seen, thought);
    if (most < noticed || most < kApart * least) continue;
    apart.push_back(fmt::format("{} takes {}, predicted are {}", info.name, format(seen), format(thought)));
  }
  if (apart.empty()) return "";
  return fmt::format("{} may be of another job than {} on {}: {}", result.file, result.model, result.hardware,
                     fmt::join(apart, "; "));
}

Result<Prediction> detailed(Session& session, PredictOptions options) {
  options.detail = true;
  return predict(session, options);
}

/// Deviation of ln(time): of the parts that are scaled, each by its share.
double spread_of(const StepReplay& result, const Prediction& after) {
  Seconds all(0.0), changed(0.0);
  for (const ReplayedFamily& family : result.families) {
    all += family.measured;
    if (std::abs(family.factor - 1.0) > kNoChange) changed += family.measured;
  }
  const double share = all > Seconds(0.0) ? std::min<double>(1.0, changed / std::max(all, result.measured)) : 0.0;
  return share * std::hypot(after.spread.row, after.job.gpus > 1 ? after.spread.exchange : 0.0);
}

}  // namespace

Result<StepReplay> replay(Session& session, const PredictOptions& options, const std::string& trace_file) {
  if (Errors errors = reordering(session, options); !errors.empty()) return tl::make_unexpected(std::move(errors));
  PredictOptions traced = options;
  traced.set.clear();
  const auto before = detailed(session, traced), after = detailed(session, options);
  if (!before) return tl::make_unexpected(before.error());
  if (!after) return tl::make_unexpected(after.error());
  const auto recorded = trace::read_trace(trace_file);
  if (!recorded) return tl::make_unexpected(recorded.error());
  const auto parts = trace::break_down(*recorded, trace_file);
  if (!parts) return tl::make_unexpected(parts.error());
  StepReplay result;
  result.file = trace_file;
  result.tool = recorded->tool;
  result.device = recorded->device;
  result.steps = parts->steps();
  result.changes = options.set;
  result.model = before->job.model;
  result.hardware = before->job.hardware;
  result.input_unit = before->samples.unit;
  result.measured = Seconds(parts->step_seconds());
  result.predicted_before = before->step_time.value;
  result.predicted_after = after->step_time.value;
  result.notices = after->notices;
  for (std::string& doubt : trace_doubts(session.catalogue(), {result.device, result.measured}, *before))
    result.notices.push_back(std::move(doubt));
  const auto steps = static_cast<double>(parts->steps());
  for (const trace::Part& part : parts->families)
    for (const trace::WorkFamilyInfo& info : trace::work_families())
      if (info.name == part.name) {
        const Seconds time(1e-9 * static_cast<double>(part.time) / steps);
        result.families.push_back({info.kind, time, time, 1.0, true});
      }
  if (std::string another = of_another_job(result, *before); !another.empty()) result.notices.push_back(std::move(another));
  trace::Factors factors;
  if (!options.set.empty()) {
    if (Errors errors = unfit(*before, *after, *recorded, result); !errors.empty()) return tl::make_unexpected(std::move(errors));
    find_factors(*before, *after, result, factors);
    if (!scales(result))
      result.notices.emplace_back("--from-trace: the changes scale no work of this trace; its step stays as measured");
  }
  const Seconds step(1e-9 * trace::rerun(*recorded, parts->iterations, factors));
  const double deviation = std::exp(kRangeDeviations * spread_of(result, *after));
  result.replayed = {step, step / deviation, step * deviation};
  const double samples = after->job.global_batch;
  result.throughput_before = before->job.global_batch / result.measured.base();
  result.throughput = {samples / step.base(), samples / result.replayed.high.base(), samples / result.replayed.low.base()};
  return result;
}

}  // namespace tbdsim
