#pragma once
#include <optional>
#include <vector>

#include "model/cost/kernel_model.hpp"
#include "model/memory/footprint.hpp"

namespace tbdsim {

/// What predictions have in common that differ in `--gpus`, `--nodes`, `--devices`, `--network` and `--exchange` alone: the
/// first one fills it in, the others read it. For one thread at a time.
struct SharedStep {
  std::vector<NodeCost> costs;       ///< of each node, before anything slows them down
  std::optional<StepMemory> memory;  ///< of the first one's ranks
};

}  // namespace tbdsim
