#pragma once
#include <span>
#include <vector>

#include "model/memory/eager_trace.hpp"

namespace tbdsim {

/// Takes what the first `layers` layers of a graph keep for backward off the device: it leaves while the layer after it runs
/// forward, and is back when the layer after it begins backward, so that two layers of them are there at most. Returns the bytes
/// that leave of each. Expects a trace of these nodes whose forward pass is not computed again, and more layers than that.
/// Source: Transformer Engine, transformer_engine/pytorch/cpu_offload.py, AsyncDoubleBufferGroupOffloadHandler.
std::vector<Bytes> offload_activations(const OpGraph& graph, std::span<const StepNode> nodes, int layers, AllocationTrace& trace);

}  // namespace tbdsim
