#pragma once
#include <utility>
#include <vector>

#include "model/configuration/predict_options.hpp"
#include "model/hardware/cluster.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

/// Devices of every node and the number of nodes, from `--gpus`, `--nodes` and `--devices`: `--gpus` counts the job's.
/// Errors: counts below 1, devices that a node lacks or that are named twice, GPUs that do not fill nodes.
[[nodiscard]] Result<std::pair<std::vector<int>, int>> choose_devices(const PredictOptions& options, const System& system);

}  // namespace tbdsim
