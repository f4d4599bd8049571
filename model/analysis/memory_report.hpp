#pragma once
#include "model/analysis/memory_estimate.hpp"

namespace tbdsim {

/// What one layer (operator) holds at the step's peak on the fullest GPU. Optimiser state by its share of the parameters.
struct LayerMemory {
  std::string name, kind, shape;
  MemoryParts parts;
};

/// Device memory while one operator runs.
struct MemoryMoment {
  std::string layer;
  bool backward = false;
  Bytes live;  ///< arrays of this moment, without what only one GPU holds
};

/// One change that makes a step smaller, on the fullest GPU.
struct MemoryReduction {
  std::string name, what;
  Bytes peak, gain;
  bool fits = false;
};

/// The largest batch per GPU whose predicted peak is within the capacity, and the next size, which is not.
struct LargestBatch {
  int batch = 0;  ///< 0: not even one sample fits
  Bytes peak, next_peak;
  double probability = 0;  ///< that `batch` fits, within the peak's range
  int safe_batch = 0;      ///< the largest that fits with a probability of 90 %
  int low = 0, high = 0;   ///< the largest if the true peaks were at the ends of their 80 % range
};

struct MemoryReport {
  std::string hardware, device, model, variant, stack, precision, exchange, optimizer;
  int gpus = 1, nodes = 1, batch_per_gpu = 1;
  std::vector<std::string> notices;
  MemoryVerdict memory;
  Bytes lower_bound;       ///< what must exist at once: no allocator does with less
  std::string peak_layer;  ///< while it runs, most memory is in use
  bool peak_in_backward = false;
  std::vector<LayerMemory> layers;  ///< largest first
  std::vector<MemoryMoment> moments;
  std::vector<MemoryReduction> reductions;  ///< largest gain first
  std::optional<LargestBatch> largest;
};

/// What a user asks of memory besides a configuration.
struct MemoryQuestions {
  bool reductions = true, largest_batch = false;
};

/// Memory of one configuration. Errors: as `predict`.
[[nodiscard]] Result<MemoryReport> report_memory(Session& session, const PredictOptions& options,
                                                 const MemoryQuestions& questions);

/// The search of `LargestBatch` alone.
[[nodiscard]] Result<LargestBatch> largest_batch(Session& session, const PredictOptions& options);

}  // namespace tbdsim
