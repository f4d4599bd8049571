#pragma once
#include <optional>
#include <vector>

#include "model/memory/lifetime.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// What one GPU of a job holds, with the 80 % range of its peak.
struct GpuMemory {
  int gpu = 0;                                               ///< of a node; of a pipeline the job's
  std::optional<int> stage;                                  ///< of a pipeline
  Bytes pre_training, allocated, reserved, peak, low, high;  ///< peak: as nvidia-smi shows it, with its 80 % range
  Bytes pre_training_low, pre_training_high;
  double probability = 1.0;  ///< that the true peak is within the capacity
  MemoryParts parts;
  StoreArrays stored;  ///< of the part `exchange`
};

/// What a job keeps in the memory of its hosts.
struct HostMemory {
  Bytes needed, rank;             ///< on each node; for each GPU of it
  std::optional<Bytes> capacity;  ///< of a node; none: not known
  bool fits = true;
};

/// Whether a job runs within the memory of its GPUs and hosts.
struct MemoryVerdict {
  Bytes capacity;
  Bytes sold{};  ///< capacity as the board is sold; zero: not told apart
  bool fits = true;
  std::vector<GpuMemory> gpus;
  std::optional<HostMemory> host{};  ///< nothing lies there
};

}  // namespace tbdsim
