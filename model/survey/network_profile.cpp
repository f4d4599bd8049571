#include "model/survey/network_profile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/configuration/configure.hpp"
#include "model/configuration/read_configuration.hpp"
#include "model/prediction/input_stage.hpp"
#include "model/prediction/lowered_job.hpp"
#include "model/prediction/rank_waits.hpp"
#include "model/prediction/step_times.hpp"
#include "model/survey/array_traffic.hpp"
#include "model/survey/line_rate.hpp"

namespace tbdsim {
namespace {

Result<StepTimes> times_of(const Configuration& configuration) {
  const auto job = lower_job(configuration);
  if (!job) return tl::make_unexpected(job.error());
  StepTimes times = step_times(job->step, engine::simulate(job->step.graph));
  add_rank_waits(configuration, times);
  (void)add_input_stage(configuration, times);
  return times;
}

Result<Seconds> step_of(const Configuration& configuration) {
  return times_of(configuration).map([](const StepTimes& times) { return times.step; });
}

struct Alone {
  StepTimes times;
  Exchange exchange;
};

/// Machines that the job runs on, or stands for.
int machines(const Configuration& configuration) { return configuration.emulated ? 2 : configuration.nodes; }

/// Other machines that prepare samples work for one node then, not for their share of the job's. Where the job cannot be
/// configured on one node, they work as for one of several.
void load_alone(Session& session, PredictOptions options, Configuration& configuration) {
  if (!configuration.pipeline || configuration.input_hosts == 0) return;
  options.nodes = 1;
  options.emulated = false;
  if (options.gpus) options.gpus = configuration.gpus;
  if (options.global_batch) {
    options.global_batch.reset();
    options.batch = configuration.batch;
  }
  const auto alone = configure(session, options);
  if (alone && alone->pipeline) configuration.pipeline = alone->pipeline;
}

/// One node of the job by itself, with the job's exchange or, where that is faster, an all-reduce: what its owner would run.
Result<Alone> one_node(Session& session, const PredictOptions& options, Configuration configuration) {
  configuration.gpus = static_cast<int>(configuration.devices.size());
  configuration.nodes = 1;
  configuration.layout.data = configuration.gpus;  // what loaders make follows from it
  configuration.nccl = collective_library(session, configuration);
  configuration.emulated = false;
  load_alone(session, options, configuration);
  auto same = times_of(configuration);
  if (!same) return tl::make_unexpected(same.error());
  Alone alone{std::move(*same), configuration.exchange};
  if (configuration.exchange == Exchange::allreduce ||
      (configuration.stack.server && configuration.stack.server->variables_on_host))
    return alone;
  configuration.exchange = Exchange::allreduce;
  auto reduced = times_of(configuration);
  if (!reduced) return tl::make_unexpected(reduced.error());
  if (reduced->step <= alone.times.step) alone = {std::move(*reduced), configuration.exchange};
  return alone;
}

Result<ScheduleVerdict> judge(const Configuration& configuration, Seconds one, double target) {
  ScheduleVerdict verdict;
  verdict.exchange = configuration.exchange;
  const auto step = step_of(configuration);
  if (!step) return tl::make_unexpected(step.error());
  verdict.step = *step;
  const double nodes = machines(configuration);
  verdict.gain = nodes * (one / *step);
  auto pay = least_rate(configuration, nodes * one, step_of);
  if (!pay) return tl::make_unexpected(pay.error());
  verdict.least_to_pay = *pay;
  auto reach = least_rate(configuration, (1.0 / target) * one, step_of);
  if (!reach) return tl::make_unexpected(reach.error());
  verdict.least_to_reach = *reach;
  return verdict;
}

}  // namespace

std::optional<Error> network_problem(const NetworkOptions& options) {
  if (!(options.target > 0.0 && options.target < 1.0))
    return Error{fmt::format("--target {}: expected an efficiency between 0 and 1, such as 0.9", options.target)};
  if (options.job.buckets) return Error{"--buckets: arrays are profiled at one length; name it with --seq-len"};
  if (options.job.mock_trainer) return Error{"--mock-trainer: what trains nothing exchanges no gradients"};
  return std::nullopt;
}

Result<NetworkProfile> profile_network(Session& session, const NetworkOptions& options) {
  if (auto problem = network_problem(options)) return tl::make_unexpected(Errors{*problem});
  PredictOptions asked = options.job;
  asked.emulated = options.job.nodes.has_value();
  const auto configured = configure(session, asked);
  if (!configured) return tl::make_unexpected(configured.error());
  const Configuration& configuration = *configured;
  if (!options.job.nodes && configuration.nodes < 2)
    return fail("network: expected several nodes; use --nodes, such as --nodes 4, or --nodes 1 to emulate two on one machine");
  if (!configuration.network)
    return fail(
        fmt::format("{}: {} nodes need a network; name one with --network", configuration.hardware().id, configuration.nodes));
  NetworkProfile profile;
  auto prediction = predict(session, asked);
  if (!prediction) return tl::make_unexpected(prediction.error());
  profile.predicted = std::move(*prediction);
  const auto one = one_node(session, asked, configuration);
  if (!one) return tl::make_unexpected(one.error());
  if (configuration.devices.size() > 1) profile.one_node_exchange = one->exchange;
  profile.one_node_step = one->times.step;
  profile.one_node_phases = one->times.phases;
  profile.nodes = machines(configuration);
  profile.emulated = configuration.emulated;
  profile.network = configuration.network->id;
  profile.line_rate = configuration.network->bandwidth;
  profile.target = options.target;
  std::vector<Exchange> exchanges{configuration.exchange};
  const bool slices = configuration.stack.server && configuration.stack.server->slice > Bytes(0.0);
  if (configuration.exchange == Exchange::ps && slices) exchanges.push_back(Exchange::ps_p3);
  if (configuration.exchange == Exchange::ps_p3) exchanges.push_back(Exchange::ps);
  for (const Exchange exchange : exchanges) {
    Configuration variant = configuration;
    variant.exchange = exchange;
    auto verdict = judge(variant, one->times.step, options.target);
    if (!verdict) return tl::make_unexpected(verdict.error());
    profile.schedules.push_back(*verdict);
  }
  profile.gain = profile.schedules.front().gain;
  profile.efficiency = profile.gain / profile.nodes;
  profile.pays = profile.gain > 1.0;
  profile.reaches = profile.efficiency >= options.target;
  const auto job = lower_job(configuration);
  if (!job) return tl::make_unexpected(job.error());
  profile.arrays = array_traffic(configuration.network_graph().graph, job->step, engine::simulate(job->step.graph));
  profile.waiting_for_slowest = profile.predicted.phases.exchange_exposed + profile.predicted.phases.store_update;
  for (const ArrayTraffic& array : profile.arrays) profile.waiting_for_slowest -= array.exposed;
  profile.waiting_for_slowest = std::max(profile.waiting_for_slowest, Seconds(0.0));
  if (configuration.gpus == 1) profile.waiting_for_slowest = Seconds(0.0);  // nobody to wait for, but rounding
  return profile;
}

}  // namespace tbdsim
