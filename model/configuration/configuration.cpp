#include "model/configuration/configuration.hpp"

#include "model/schedule/pipeline/generate.hpp"

namespace tbdsim {

TrainingStep configured_step(const Configuration& configuration) {
  const Workload& workload = configuration.network_graph();
  return with_recompute(workload.graph, workload.step, repetition(configuration));
}

Repetition repetition(const Configuration& configuration) {
  return {configuration.recompute, configuration.stack.parallel.recompute_stops};
}

Result<pipeline::PipelineSchedule> configured_schedule(const Configuration& configuration) {
  if (configuration.own_schedule) return *configuration.own_schedule;
  return pipeline::generate(configuration.schedule, configuration.pipeline_shape());
}

}  // namespace tbdsim
