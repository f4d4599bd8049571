#pragma once
#include <string>
#include <vector>

#include "model/configuration/configuration.hpp"
#include "model/prediction/prediction.hpp"
#include "model/prediction/step_times.hpp"

namespace tbdsim {

/// Cores of a node that work in a step, by what for, over all it has. Adds a notice where the step wants more than there are.
void tell_cpu(const Configuration& configuration, const StepTimes& times, Utilization& utilization,
              std::vector<std::string>& notices);

/// What a step takes of the host's memory, the network and the storage. Expects the verdict on loading in `prediction`.
[[nodiscard]] Loads loads(const Configuration& configuration, const StepTimes& times, const Prediction& prediction);

/// Adds what a divided job keeps on its hosts to the share of their memory in use.
void add_kept_on_host(const MemoryVerdict& memory, Loads& loads);

}  // namespace tbdsim
