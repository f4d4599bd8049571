#pragma once
#include <span>
#include <vector>

#include "model/cost/kernel_model.hpp"
#include "model/stack/engine_settings.hpp"
#include "model/workload/training_step.hpp"

namespace tbdsim {

/// What a node of a step adds to the operations of the framework's engine.
struct EngineShare {
  double operations = 1;  ///< that begin with it; 0: it belongs to the one before it
  bool begins = true;     ///< the host waited for the device before it
};

/// Joins the nodes of a step into operations of the engine, in the order in which they are issued.
///
/// An operation holds up to `operators + 1` operators, the next one is alone. Where it stops at arrays, a forward operator
/// with arrays of its own begins one, and a backward operator that completes the gradient of an array is one by itself; two
/// backward passes of one operator belong together. Nodes that stand for many operators hold as many operations as they
/// need. Updates are one operation each.
/// Source: apache/mxnet 1.2 src/executor/graph_executor.cc, BulkTrainingOpSegs.
[[nodiscard]] std::vector<EngineShare> engine_shares(const OpGraph& graph, std::span<const StepNode> nodes,
                                                     std::span<const NodeCost> costs, const EngineSettings& engine);

}  // namespace tbdsim
