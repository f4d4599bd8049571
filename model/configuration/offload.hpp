#pragma once
#include "model/units/quantity.hpp"

namespace tbdsim {

/// What a job keeps in the memory of its hosts, and how fast that is reached.
struct Offload {
  double states = 0;      ///< share of the fp32 weights and optimiser states, which the host updates
  bool weights = false;   ///< with them the divided weights and their gradients
  int layers = 0;         ///< of a rank, the first ones, whose activations leave until backward
  BytesPerSecond copy;    ///< of each rank, one direction, while all of the node copy
  BytesPerSecond update;  ///< of each rank, of the host's memory, while all of the node update
  bool assumed = false;   ///< nothing names the host's memory
  [[nodiscard]] bool any() const { return states > 0.0 || layers > 0; }
};

}  // namespace tbdsim
