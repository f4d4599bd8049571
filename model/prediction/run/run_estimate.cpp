#include "model/prediction/run/run_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "model/configuration/configure.hpp"
#include "model/input/edits.hpp"
#include "model/prediction/optimizer_state.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr Seconds kHour{3600.0};
constexpr double kJoulesOfKilowattHour = 3.6e6;

std::string hours(Seconds time) { return fmt::format("{:g} h", time / kHour); }

std::vector<RunAssumption> assumptions(const Operations& o, const SustainedPower* sustained) {
  const Operations::Checkpoint& c = o.checkpoint;
  std::vector<RunAssumption> all{
      {"failures.gpu", hours(o.failures.gpu), o.failures.source},
      {"failures.node", hours(o.failures.node), o.failures.source},
      {"restart.time", format(o.restart.time), o.restart.source},
      {"checkpoint.node_write", format(c.node_write), c.source},
      {"checkpoint.node_read", format(c.node_read), c.source},
      {"checkpoint.stall", fmt::format("{:g} %", 100.0 * c.stall), c.source},
      {"storage.bandwidth", format(o.storage.bandwidth), o.storage.source},
      {"repair.time", hours(o.repair.time), o.repair.source},
      {"energy.pue", fmt::format("{:g}", o.energy.pue), o.energy.source},
      {"carbon.grams_per_kilowatt_hour", fmt::format("{:g}", o.carbon.intensity.grams_per_joule * kJoulesOfKilowattHour),
       o.carbon.source},
  };
  if (c.interval) all.push_back({"checkpoint.interval", format(*c.interval), c.source});
  if (c.per_parameter) all.push_back({"checkpoint.per_parameter", format(*c.per_parameter), c.source});
  if (sustained != nullptr)
    all.push_back({fmt::format("sustained[{}].share", sustained - o.sustained.data()),
                   fmt::format("{:g} %", 100.0 * sustained->share), sustained->source});
  return all;
}

/// Names the user as the source of what `stated` does not say.
void tell_changes(const std::vector<RunAssumption>& stated, std::vector<RunAssumption>& used) {
  for (RunAssumption& a : used) {
    const bool kept =
        std::any_of(stated.begin(), stated.end(), [&](const RunAssumption& s) { return s.key == a.key && s.value == a.value; });
    if (!kept) a.source = fmt::format("assumed: {}", kAssignments);
  }
}

/// What the building draws while the job runs, and what comes of it.
void tell_power(const Prediction& p, const Operations& operations, const SustainedPower* sustained, RunEstimate& run) {
  if (!p.cost.gpu_power) return;
  const Watts machines = *p.cost.gpu_power + p.cost.host_power.value_or(Watts(0.0));
  run.power = machines * (operations.energy.pue * (sustained != nullptr ? sustained->share : 1.0));
  run.energy = *run.power * run.elapsed.value;
  run.carbon_grams = run.energy->base() * operations.carbon.intensity.grams_per_joule;
}

}  // namespace

Result<RunEstimate> estimate_run(const Prediction& p, const Operations& operations, Bytes checkpoint, double tokens) {
  assert(tokens > 0.0);
  if (p.samples.part != "token" || p.samples.parts <= 0.0)
    return fail(fmt::format("--tokens: {} takes {}, not tokens; --samples and --epochs are about those", p.job.model,
                            p.samples.unit.empty() ? "samples" : p.samples.unit + "s"));
  RunEstimate run;
  run.tokens = tokens;
  run.steps = static_cast<std::int64_t>(std::ceil(tokens / (p.samples.parts * p.job.global_batch)));
  const auto steps = static_cast<double>(run.steps);
  run.training = {steps * p.step_time.value, steps * p.step_time.low, steps * p.step_time.high};
  const int hosts = p.job.nodes * p.job.hosts;
  run.whole_nodes = p.job.node_hosts == 1;
  run.goodput = goodput(operations, checkpoint, p.job.gpus, hosts);
  const Goodput& g = run.goodput;
  if (g.share <= 0.0)
    return fail(
        fmt::format("--tokens: {} GPUs are interrupted every {} on average; a restart takes {} and a checkpoint {}, so the "
                    "job never gets on: expected a longer time between failures or a shorter one for those "
                    "(--set operations.KEY=VALUE)",
                    p.job.gpus, format(g.between_interruptions), format(g.restart), format(g.wait)));
  const auto whole = [&](Seconds training) { return p.start_up + training / g.share; };
  run.elapsed = {whole(run.training.value), whole(run.training.low), whole(run.training.high)};
  run.interruptions = run.elapsed.value / g.between_interruptions;
  run.checkpoints = g.interval > Seconds(0.0) ? static_cast<std::int64_t>(run.elapsed.value / g.interval) : 0;
  run.spares = run.interruptions >= 1.0 ? spare_nodes(operations, p.job.gpus, hosts) : 0;
  const SustainedPower* const sustained = operations.sustained_at(p.job.precision);
  tell_power(p, operations, sustained, run);
  // An hour is paid for whole nodes.
  const double spares = static_cast<double>(run.spares) / (p.job.nodes * p.job.node_hosts);
  if (p.cost.hour) run.cost = *p.cost.hour * (run.elapsed.value / kHour) * (1.0 + spares);
  run.assumptions = assumptions(operations, run.power ? sustained : nullptr);
  return run;
}

Bytes checkpoint_bytes(const Configuration& job, const Operations& operations) {
  const auto parameters = static_cast<double>(job.network_graph().graph.parameter_elements());
  if (operations.checkpoint.per_parameter) return parameters * *operations.checkpoint.per_parameter;
  const OptimizerState state = optimizer_state(job);
  constexpr Bytes kSingle{4.0}, kHalf{2.0};
  const bool half = is_narrow(job.precision) && !state.master && job.precision != Precision::amp;
  return parameters * ((half ? kHalf : kSingle) + state.arrays * state.element);
}

Result<RunEstimate> estimate_run(Session& session, const PredictOptions& options, const Prediction& prediction, double tokens) {
  PredictOptions asked = options;
  asked.run = true;
  const auto operations = configured_operations(session, asked);
  if (!operations) return tl::make_unexpected(operations.error());
  const auto job = configure(session, asked);
  if (!job) return tl::make_unexpected(job.error());
  auto run = estimate_run(prediction, *operations, checkpoint_bytes(*job, *operations), tokens);
  const auto stated = session.operations();
  if (run && *stated)
    tell_changes(assumptions(**stated, run->power ? (**stated).sustained_at(prediction.job.precision) : nullptr),
                 run->assumptions);
  return run;
}

}  // namespace tbdsim
