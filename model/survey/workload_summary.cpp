#include "model/survey/workload_summary.hpp"

#include <set>

#include "model/workload/saved_tensors.hpp"
#include "model/workload/training_step.hpp"

namespace tbdsim {
namespace {

constexpr Bytes kElement{4.0};  ///< fp32
constexpr double kFlopPerMac = 2.0;

void count_macs(const OpGraph& graph, std::vector<LayerCounts>& layers) {
  const TrainingStep step = training_step(graph);
  const auto add = [&](const StepNode& node, std::int64_t MacCounts::*part) {
    const double macs = flop_per_sample(graph, node).base() / kFlopPerMac;
    layers[static_cast<std::size_t>(node.op.value)].macs.*part += static_cast<std::int64_t>(macs);
  };
  for (const StepNode& node : step.forward) add(node, &MacCounts::forward);
  for (const StepNode& node : step.backward) add(node, &MacCounts::backward);
}

void count_saved(const OpGraph& graph, SavingRules rules, std::vector<LayerCounts>& layers) {
  const std::vector<SavedByOp> saved = saved_by_ops(graph, rules, kElement);
  const std::vector<TensorId> owner = storage_of(graph, rules);
  std::set<TensorId> seen;
  for (std::size_t i = 0; i < saved.size(); ++i) {
    // As in `saved_bytes`: what the loss keeps is not the network's.
    if (is_loss(graph.ops[i].kind)) continue;
    layers[i].saved = saved[i].extra_per_sample;
    for (const TensorId tensor : saved[i].tensors) {
      const TensorId storage = owner[static_cast<std::size_t>(tensor.value)];
      if (!seen.insert(storage).second) continue;
      layers[i].saved += static_cast<double>(elements(graph.tensor(storage).shape)) * kElement;
    }
  }
}

}  // namespace

WorkloadSummary summarize_workload(const OpGraph& graph) {
  const SavingRules rules = graph.variant == "mxnet" ? SavingRules::mxnet : SavingRules::autograd;
  WorkloadSummary summary;
  summary.parameters = graph.parameter_elements();
  summary.parameter_arrays = static_cast<std::int64_t>(graph.parameters.size());
  summary.macs = macs_per_sample(graph);
  const SavedBytes saved = saved_bytes(graph, rules, kElement);
  summary.saved_per_sample = saved.per_sample;
  summary.saved_fixed = saved.fixed;
  for (const Op& op : graph.ops) {
    LayerCounts layer;
    layer.name = op.name;
    layer.kind = info(op.kind).name;
    layer.output_shape = to_text(graph.output_shape(op));
    for (const ParameterId id : op.parameters) layer.parameters += elements(graph.parameter(id).shape);
    summary.layers.push_back(std::move(layer));
  }
  count_macs(graph, summary.layers);
  count_saved(graph, rules, summary.layers);
  return summary;
}

}  // namespace tbdsim
