#include "model/prediction/lowered_job.hpp"

#include <fmt/format.h>

#include "model/cost/issue.hpp"
#include "model/schedule/exchange/plan_exchange.hpp"
#include "model/schedule/lower.hpp"

namespace tbdsim {

Result<LoweredJob> lower_job(const Configuration& configuration, std::span<const NodeCost> costs) {
  const System& system = configuration.hardware();
  const Workload& workload = configuration.network_graph();
  auto kernels = KernelModel::make(system.device, configuration.precision, configuration.stack, **configuration.constants);
  if (!kernels) return tl::make_unexpected(kernels.error());
  if (!*configuration.nccl) return tl::make_unexpected(in_stack(configuration.stack, configuration.nccl->error()));
  const Precision precision = configuration.precision;
  const bool half = is_whole_16_bit(precision);
  const Bytes activation(half || precision == Precision::amp ? 2.0 : 4.0);
  const bool sent_in_16_bits = half || (precision == Precision::amp && configuration.stack.exchange.amp_16_bit);
  const Bytes gradient(sent_in_16_bits ? 2.0 : 4.0);
  double parameters = 0.0;
  for (const Parameter& parameter : workload.graph.parameters) parameters += static_cast<double>(elements(parameter.shape));
  auto exchange = plan_exchange(configuration.exchange,
                                {system, configuration.devices, configuration.nodes, configuration.network, configuration.stack,
                                 **configuration.nccl, *kernels, static_cast<double>(configuration.batch), activation,
                                 configuration.accumulate, configuration.emulated, parameters * gradient});
  if (!exchange) return tl::make_unexpected(exchange.error());
  LowerOptions how{static_cast<double>(configuration.batch), issue_scale(system.host, configuration.stack.host)};
  how.micro_batches = configuration.accumulate;
  how.gradient_element = gradient;
  how.driven = info(configuration.exchange).one_process ? static_cast<int>(configuration.devices.size()) : 1;
  how.slowdown = configuration.compute_scale;
  how.launch_interval = system.device.calibration.own.launch_interval.value_or(Seconds(0.0));
  if (configuration.exchange == Exchange::nccl) how.slowdown *= configuration.stack.store.nccl_slowdown;
  const TrainingStep order = configured_step(configuration);
  how.costs = costs;
  LoweredStep step = lower(workload.graph, order, *kernels, configuration.stack, *exchange->style, how);
  // Beyond this the picosecond clock may overflow, and no training step takes that long or no time at all.
  constexpr Seconds kLongestStep(1e5), kShortestStep(1e-9);
  if (!(step.total < kLongestStep && step.total > kShortestStep))
    return fail(fmt::format("a step of {} on {} would take {:.3g} s: look for an implausible rate, time or size among the inputs",
                            workload.graph.name, system.id, step.total.base()));
  return LoweredJob{std::move(*kernels), std::move(exchange->kind), std::move(exchange->description),
                    std::move(exchange->indirect), std::move(step)};
}

Result<std::vector<NodeCost>> kernel_costs(const Configuration& configuration) {
  return KernelModel::make(configuration.hardware().device, configuration.precision, configuration.stack,
                           **configuration.constants)
      .map([&](const KernelModel& kernels) {
        return node_costs(configuration.network_graph().graph, configured_step(configuration), kernels,
                          static_cast<double>(configuration.batch));
      });
}

}  // namespace tbdsim
