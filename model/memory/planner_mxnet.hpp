#pragma once
#include <span>
#include <vector>

#include "model/memory/lifetime.hpp"

namespace tbdsim {

/// An output of a node may take the memory of an input.
struct InplacePair {
  std::int32_t input = 0, output = 0;  ///< indices within the node
  bool identity = false;               ///< the operator changes nothing: allowed however many still read the input
};

/// One array that a node makes. External arrays (parameters, their gradients) are not planned.
struct PlanEntry {
  Bytes bytes;
  MemoryPart part = MemoryPart::feature_maps;
  OpId op;
  bool external = false;
};

/// One forward or backward operator as MXNet's executor sees it.
struct PlanNode {
  std::vector<std::int32_t> inputs;  ///< entries it reads, in the operator's order
  std::vector<InplacePair> inplace;
  std::int32_t first_output = 0, outputs = 0;  ///< entries
  std::int32_t after = -1;                     ///< a node that must come before, besides those it reads from
  OpId op;
  bool backward = false;
};

/// Nodes in no particular order, the arrays they make, and the arrays that are wanted, in the order of the executor's
/// outputs (predictions first, then gradients of the arguments).
struct PlanGraph {
  std::vector<PlanNode> nodes;
  std::vector<PlanEntry> entries;
  std::vector<std::int32_t> producer;  ///< node of each entry
  std::vector<std::int32_t> heads;     ///< entries

  /// Appends a node whose outputs are `made`; returns its first output entry.
  std::int32_t add(PlanNode node, std::span<const PlanEntry> made);
};

/// Nodes in the order in which a depth-first walk from the heads leaves them: inputs before a node, in their order.
[[nodiscard]] std::vector<std::int32_t> execution_order(const PlanGraph& graph);

/// Blocks that hold all arrays of a graph.
struct StoragePlan {
  std::vector<std::int32_t> order;    ///< nodes as they run: depth first from the heads
  std::vector<std::int32_t> storage;  ///< block of each entry; -1: external
  std::vector<Bytes> blocks;          ///< final size of each
  std::vector<Lifetime> lifetimes;    ///< of the planned entries; positions are indices into `order`
  [[nodiscard]] Bytes total() const;
};

/// MXNet's static plan: one walk in execution order; an output takes an input's block where the operator allows it and
/// nobody else reads it, else the smallest free block that holds it and is at most 16 times as large, else the largest
/// smaller one down to a sixteenth, which grows, else a new block. Outputs that nobody reads get a block, too, and
/// return it at once.
///
/// Ignores devices and types (arrays of 4-byte elements on one device) and the search over match ranges, which is off
/// by default.
/// Source: dmlc/nnvm src/pass/plan_memory.cc and graph_algorithm.h, as of apache/mxnet 1.1.0.
[[nodiscard]] StoragePlan plan_storage(const PlanGraph& graph);

}  // namespace tbdsim
