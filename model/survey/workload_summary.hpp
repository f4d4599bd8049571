#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/units/quantity.hpp"
#include "model/workload/op_counts.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// One operator of a network, for one sample.
struct LayerCounts {
  std::string name, kind, output_shape;
  std::int64_t parameters = 0;
  MacCounts macs;  ///< multiply-adds
  Bytes saved;     ///< kept for the backward pass, counted where a tensor is kept first
};

/// A network in numbers that no hardware changes.
struct WorkloadSummary {
  std::int64_t parameters = 0, parameter_arrays = 0;
  MacCounts macs;          ///< per sample
  Bytes saved_per_sample;  ///< fp32, as the network's framework keeps tensors; without parameters and loss
  Bytes saved_fixed;       ///< the part that does not grow with the batch
  std::vector<LayerCounts> layers;
};

/// Rules of MXNet for its own variants, of PyTorch's autograd for all others.
[[nodiscard]] WorkloadSummary summarize_workload(const OpGraph& graph);

}  // namespace tbdsim
