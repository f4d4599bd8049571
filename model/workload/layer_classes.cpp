#include "model/workload/layer_classes.hpp"

#include <algorithm>

#include "model/workload/recompute.hpp"

namespace tbdsim {
namespace {

std::size_t index(OpId id) { return static_cast<std::size_t>(id.value); }

bool equal_ops(const OpGraph& graph, OpId a, OpId b) {
  const Op &x = graph.op(a), &y = graph.op(b);
  if (x.kind != y.kind || x.inputs.size() != y.inputs.size() || x.parameters.size() != y.parameters.size() ||
      x.attributes != y.attributes || x.frozen != y.frozen)
    return false;
  const Tensor &made = graph.tensor(x.output), &other = graph.tensor(y.output);
  if (made.shape != other.shape || made.needs_gradient != other.needs_gradient || made.consumers.size() != other.consumers.size())
    return false;
  for (std::size_t i = 0; i < x.inputs.size(); ++i) {
    const Tensor &read = graph.tensor(x.inputs[i]), &also = graph.tensor(y.inputs[i]);
    if (a.value - read.producer.value != b.value - also.producer.value || read.shape != also.shape) return false;
  }
  for (std::size_t i = 0; i < x.parameters.size(); ++i)
    if (graph.parameter(x.parameters[i]).shape != graph.parameter(y.parameters[i]).shape) return false;
  return true;
}

}  // namespace

LayerClasses fold_layers(const OpGraph& graph) {
  LayerClasses result;
  result.begins = recompute_segments(graph, Recompute::layer);
  result.layer_of.resize(graph.ops.size());
  const auto end = [&](std::size_t layer) {
    return layer + 1 < result.layers() ? result.begins[layer + 1].value : static_cast<std::int32_t>(graph.ops.size());
  };
  const auto equal = [&](std::size_t a, std::size_t b) {
    const std::int32_t begin = result.begins[a].value, other = result.begins[b].value;
    if (end(a) - begin != end(b) - other) return false;
    for (std::int32_t i = 0; i < end(a) - begin; ++i)
      if (!equal_ops(graph, OpId{begin + i}, OpId{other + i})) return false;
    return true;
  };
  for (std::size_t layer = 0; layer < result.layers(); ++layer) {
    for (auto op = index(result.begins[layer]); op < static_cast<std::size_t>(end(layer)); ++op)
      result.layer_of[op] = static_cast<int>(layer);
    const auto same = std::find_if(result.example.begin(), result.example.end(),
                                   [&](int example) { return equal(static_cast<std::size_t>(example), layer); });
    result.class_of.push_back(static_cast<int>(same - result.example.begin()));
    if (same == result.example.end()) result.example.push_back(static_cast<int>(layer));
  }
  return result;
}

}  // namespace tbdsim
