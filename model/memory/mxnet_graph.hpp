#pragma once
#include "model/memory/planner_mxnet.hpp"
#include "model/workload/saved_tensors.hpp"

namespace tbdsim {

/// Whether an operator is unrolled into cells step by step: one LSTM layer in one direction.
[[nodiscard]] bool unrolled_cells(const Op& op);

/// The graph that MXNet's executor plans for one training step of `graph` with `batch` samples: forward operators with
/// all their outputs (means, masks), one backward operator for each, sums where a tensor has several gradients (up to
/// seven in one operator, more one by one), and what may be in place. Parameters and their gradients are external.
///
/// `rules` are the version's: `mxnet` or `mxnet_later`. Every backward operator reads the gradient of its output,
/// then what `rules` say it keeps; every input's gradient gets an array, wanted or not. An addition passes its
/// gradient on without a copy. `mirrors`: backward operators read copies of what operators under `mirrored` have made; each
/// is an operator of the backward pass, which runs when the first of them asks for it.
/// Source: dmlc/nnvm src/pass/gradient.cc; apache/mxnet 1.1.0 src/executor/graph_executor.cc and src/operator.
[[nodiscard]] PlanGraph mxnet_graph(const OpGraph& graph, SavingRules rules, double batch, Bytes element, bool mirrors = false);

}  // namespace tbdsim
