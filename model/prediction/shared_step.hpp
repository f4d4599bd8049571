#pragma once
#include <optional>
#include <vector>

#include "model/cost/kernel_model.hpp"
#include "model/memory/footprint.hpp"

namespace tbdsim {

/// What predictions have in common that differ in `--gpus`, `--nodes`, `--devices`, `--network` and `--exchange` alone.
struct SharedStep {
  std::vector<NodeCost> costs;       ///< of each node, before anything slows them down
  std::optional<StepMemory> memory;  ///< of the ranks that it was found with; absent: none that others could take
};

}  // namespace tbdsim
