#pragma once
#include "model/prediction/max_batch.hpp"

namespace tbdsim {

/// What one layer (operator) holds at the step's peak on the fullest GPU. Optimiser state by its share of the parameters.
struct LayerMemory {
  std::string name, kind, shape;
  MemoryParts parts;
};

/// What all layers of one type hold at the step's peak on the fullest GPU, or what no layer does.
struct TypeMemory {
  std::string type;  ///< "attention", else the kind of operator; "no layer": context, slack and the like
  int layers = 0;
  MemoryParts parts;
};

/// Device memory while one operator runs.
struct MemoryMoment {
  std::string layer;
  Phase phase;
  Bytes live;  ///< arrays of this moment on the fullest GPU, optimiser state and buffers of the exchange among them
};

/// One change that makes a step smaller, on the fullest GPU.
struct MemoryReduction {
  std::string name, what;
  Bytes peak, gain;
  bool fits = false;
};

struct MemoryReport {
  std::string hardware, device, model, variant, stack, precision, optimizer;
  Exchange exchange = Exchange::allreduce;
  int gpus = 1, nodes = 1, batch_per_gpu = 1;
  Layout layout;
  int accumulate = 1, zero = 0;
  double offload_states = 0;  ///< share of them on the host
  int offload_layers = 0;     ///< whose activations lie there
  std::string recompute = "none";
  std::vector<std::string> notices;
  MemoryVerdict memory;
  Bytes lower_bound;       ///< what must exist at once: no allocator does with less
  std::string peak_layer;  ///< while it runs, most memory is in use
  Phase peak_phase = Phase::forward;
  std::vector<LayerMemory> layers;  ///< largest first
  std::vector<TypeMemory> types;    ///< largest first; together the peak
  std::vector<MemoryMoment> moments;
  std::vector<MemoryReduction> reductions;  ///< largest gain first
  std::optional<LargestBatch> largest;
};

/// Layers of which those that differ in a time step alone ("decoder_t7_tanh") are one ("decoder_t0..99_tanh"), largest first.
[[nodiscard]] std::vector<LayerMemory> steps_joined(const std::vector<LayerMemory>& layers);

/// What a user asks of memory besides a configuration.
struct MemoryQuestions {
  bool reductions = true, largest_batch = false;
};

/// Memory of one configuration. Errors: as `predict`.
[[nodiscard]] Result<MemoryReport> report_memory(Session& session, const PredictOptions& options,
                                                 const MemoryQuestions& questions);

}  // namespace tbdsim
