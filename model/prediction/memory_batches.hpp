#pragma once
#include "model/configuration/session.hpp"
#include "model/prediction/prediction.hpp"

namespace tbdsim {

/// Memory of one batch per GPU, and how fast it trains.
struct BatchMemory {
  int batch = 0;
  std::optional<Ranged<Seconds>> step_time;  ///< nothing where the layout's time is not predicted here
  double throughput = 0;                     ///< samples per second, with it
  MemoryVerdict memory;
};

/// One job at several batches.
struct MemoryByBatch {
  std::string device, hardware, model, variant, stack, precision, optimizer;
  Exchange exchange = Exchange::allreduce;
  int gpus = 1, nodes = 1;
  std::string input_unit;
  std::vector<BatchMemory> rows;
  std::vector<std::string> notices;
};

/// Memory by its parts, and throughput, of each of `batches`. Errors: as `report_memory`.
[[nodiscard]] Result<MemoryByBatch> memory_by_batch(Session& session, const PredictOptions& options,
                                                    const std::vector<int>& batches);

}  // namespace tbdsim
