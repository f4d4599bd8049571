#include "model/survey/network_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/configuration/configure.hpp"
#include "model/configuration/read_configuration.hpp"
#include "model/prediction/input_stage.hpp"
#include "model/prediction/lowered_job.hpp"
#include "model/prediction/rank_waits.hpp"
#include "model/prediction/step_times.hpp"
#include "model/survey/array_traffic.hpp"

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

/// The same job on a network of another line rate, and its protocol efficiency, also TCP's beside another transport.
Configuration at_rate(Configuration configuration, BytesPerSecond rate) {
  Network& network = *configuration.network;
  network.achieved *= rate / network.bandwidth;
  network.tcp *= rate / network.bandwidth;
  network.bandwidth = rate;
  return configuration;
}

/// Least line rate to 1 % at which a step takes no longer than `longest`; nullopt if none does. More bandwidth never
/// slows a step.
Result<std::optional<BytesPerSecond>> least_rate(const Configuration& configuration, Seconds longest) {
  constexpr BytesPerSecond kSlowest(1e6), kFastest(1e13);
  constexpr double kPrecision = 1.01;
  const auto enough = [&](BytesPerSecond rate) -> Result<bool> {
    return step_of(at_rate(configuration, rate)).map([&](Seconds step) { return step <= longest; });
  };
  BytesPerSecond low = kSlowest, high = kFastest;
  auto fast = enough(high);
  if (!fast) return tl::make_unexpected(fast.error());
  if (!*fast) return std::optional<BytesPerSecond>();
  while (high / low > kPrecision) {
    const BytesPerSecond middle(std::sqrt(low.base() * high.base()));
    const auto reached = enough(middle);
    if (!reached) return tl::make_unexpected(reached.error());
    (*reached ? high : low) = middle;
  }
  return std::optional<BytesPerSecond>(high);
}

struct Alone {
  StepTimes times;
  Exchange exchange;
};

/// Machines that the job runs on, or stands for.
int machines(const Configuration& configuration) { return configuration.emulated ? 2 : configuration.nodes; }

/// One node of the job by itself, with the job's exchange or, where that is faster, an all-reduce: what its owner would run.
Result<Alone> one_node(Session& session, Configuration configuration) {
  configuration.gpus = static_cast<int>(configuration.devices.size());
  configuration.nodes = 1;
  configuration.nccl = collective_library(session, configuration);
  configuration.emulated = false;
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
  auto pay = least_rate(configuration, nodes * one);
  if (!pay) return tl::make_unexpected(pay.error());
  verdict.least_to_pay = *pay;
  auto reach = least_rate(configuration, (1.0 / target) * one);
  if (!reach) return tl::make_unexpected(reach.error());
  verdict.least_to_reach = *reach;
  return verdict;
}

}  // namespace

Result<NetworkProfile> profile_network(Session& session, const NetworkOptions& options) {
  if (!(options.target > 0.0 && options.target < 1.0))
    return fail(fmt::format("--target {}: expected an efficiency between 0 and 1, such as 0.9", options.target));
  if (options.job.buckets) return fail("--buckets: arrays are profiled at one length; name it with --seq-len");
  if (options.job.mock_trainer) return fail("--mock-trainer: what trains nothing exchanges no gradients");
  PredictOptions asked = options.job;
  asked.emulated = options.job.nodes.has_value();
  const auto configured = configure(session, asked);
  if (!configured) return tl::make_unexpected(configured.error());
  const Configuration& configuration = *configured;
  if (configuration.pipelined())
    return fail(
        "--exchange pipeline: its stages share one batch and exchange no gradients, which is what this verb profiles; "
        "compare `tbdsim predict --exchange pipeline` with --nodes 1 and with more");
  if (configuration.by_layers())
    return fail(
        "network: profiles the gradients of whole copies, one array after the other; of a step that is simulated layer by layer "
        "(a divided network, sharded states, a stack made for these) `tbdsim predict` tells what travels along each axis");
  if (!options.job.nodes && configuration.nodes < 2)
    return fail("network: expected several nodes; use --nodes, such as --nodes 4, or --nodes 1 to emulate two on one machine");
  if (!configuration.network)
    return fail(
        fmt::format("{}: {} nodes need a network; name one with --network", configuration.hardware().id, configuration.nodes));
  NetworkProfile profile;
  auto prediction = predict(session, asked);
  if (!prediction) return tl::make_unexpected(prediction.error());
  profile.job = std::move(*prediction);
  const auto one = one_node(session, configuration);
  if (!one) return tl::make_unexpected(one.error());
  if (configuration.devices.size() > 1) profile.one_node_exchange = one->exchange;
  profile.one_node_step = one->times.step;
  profile.one_node_stages = one->times.stages;
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
    profile.schedules.push_back(std::move(*verdict));
  }
  profile.gain = profile.schedules.front().gain;
  profile.efficiency = profile.gain / profile.nodes;
  profile.pays = profile.gain > 1.0;
  profile.reaches = profile.efficiency >= options.target;
  const auto job = lower_job(configuration);
  if (!job) return tl::make_unexpected(job.error());
  profile.arrays = array_traffic(configuration.network_graph().graph, job->step, engine::simulate(job->step.graph));
  profile.waiting_for_slowest = profile.job.stages.exchange_exposed + profile.job.stages.store_update;
  for (const ArrayTraffic& array : profile.arrays) profile.waiting_for_slowest -= array.exposed;
  profile.waiting_for_slowest = std::max(profile.waiting_for_slowest, Seconds(0.0));
  if (configuration.gpus == 1) profile.waiting_for_slowest = Seconds(0.0);  // nobody to wait for, but rounding
  return profile;
}

}  // namespace tbdsim
