#include "model/configuration/configuration.hpp"

namespace tbdsim {

TrainingStep configured_step(const Configuration& configuration) {
  const Workload& workload = configuration.network_graph();
  return with_recompute(workload.graph, workload.step, configuration.recompute);
}

}  // namespace tbdsim
