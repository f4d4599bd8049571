#include "model/workload/op_counts.hpp"

namespace tbdsim {
namespace {

std::int64_t macs(const OpGraph& graph, const StepNode& node) {
  const Op& op = graph.op(node.op);
  const OperatorRow& row = info(op.kind);
  switch (node.pass) {
    case Pass::forward:
    case Pass::backward_data:
    case Pass::backward_weights:
      return row.macs == nullptr ? 0 : row.macs(graph, op);
    case Pass::backward:
      return row.backward_macs == nullptr ? 0 : row.backward_macs(graph, op);
    case Pass::gradient_sum:
    case Pass::update:
      return 0;
  }
  return 0;
}

}  // namespace

Flop flop_per_sample(const OpGraph& graph, const StepNode& node) { return Flop(2.0 * static_cast<double>(macs(graph, node))); }

MacCounts macs_per_sample(const OpGraph& graph) {
  MacCounts counts;
  const TrainingStep step = training_step(graph);
  for (const StepNode& node : step.forward) counts.forward += macs(graph, node);
  for (const StepNode& node : step.backward) counts.backward += macs(graph, node);
  return counts;
}

}  // namespace tbdsim
