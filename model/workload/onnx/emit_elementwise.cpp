// Nodes that treat every element alike, and nodes that are known by the bytes they move only.
#include <algorithm>
#include <cmath>

#include "model/workload/onnx/rules.hpp"

namespace tbdsim::onnx {
namespace {

/// Every input that is data, as one kernel reads it.
std::vector<TensorId> data_inputs(Lowering& l, NodeIndex node) {
  std::vector<TensorId> inputs;
  for (const ValueIndex input : l.graph.node(node).inputs)
    if (l.is_data(input)) inputs.push_back(l.tensor(input));
  return inputs;
}

/// Arrays among the inputs, which the operator trains.
std::vector<Shape> parameter_shapes(const Lowering& l, NodeIndex node) {
  std::vector<Shape> shapes;
  for (const ValueIndex input : l.graph.node(node).inputs) {
    if (!l.is(input, Origin::parameter) || !l.dims(input) || l.is_taken(input)) continue;
    if (const auto shape = whole(*l.dims(input))) shapes.push_back(*shape);
  }
  return shapes;
}

ValueIndex first_parameter(const Lowering& l, NodeIndex node) {
  for (const ValueIndex input : l.graph.node(node).inputs)
    if (l.is(input, Origin::parameter)) return input;
  return kAbsent;
}

/// The data input, where the other one is not data; kAbsent where both are.
ValueIndex lone_data(const Lowering& l, NodeIndex node) {
  const ValueIndex a = l.input(node, 0), b = l.input(node, 1);
  if (l.is_data(a) && l.is_data(b)) return kAbsent;
  return l.is_data(a) ? a : b;
}

bool is_scalar(const Lowering& l, ValueIndex value) {
  return value != kAbsent && l.dims(value) && product(*l.dims(value)) == Number{1.0};
}

/// A bias of every position: one trainable vector along the last dimension, or a table of as many rows as the sequence.
std::optional<LearnedBiasAttributes> learned_bias(const Shape& x, const Shape& array) {
  Shape core;
  for (const std::int64_t extent : array)
    if (!core.empty() || extent > 1) core.push_back(extent);
  if (core == Shape{x.back()}) return LearnedBiasAttributes{0, false};
  if (x.size() == 2 && core == x) return LearnedBiasAttributes{x[0], false};
  return std::nullopt;
}

}  // namespace

void emit_by_bytes(Lowering& l, NodeIndex node) {
  std::vector<TensorId> inputs = data_inputs(l, node);
  const std::vector<Shape> arrays = parameter_shapes(l, node);
  if (inputs.empty() || l.failed()) return;
  std::size_t made = 0;
  for (const ValueIndex out : l.graph.node(node).outputs) {
    if (out == kAbsent || (l.graph.value(out).readers.empty() && !l.graph.value(out).is_output)) continue;
    const auto shape = l.dims(out) ? per_sample(*l.dims(out)) : std::nullopt;
    if (!shape) {
      l.refuse(node, "the shape of its output cannot be derived{}", l.dims(out) ? ": " + to_text(*l.dims(out)) : "");
      return;
    }
    const ByBytesAttributes moved{*shape, made++ == 0 ? arrays : std::vector<Shape>{}};
    l.bind(node, out, l.emit(node, OpKind::by_bytes, inputs, moved, {first_parameter(l, node)}));
  }
}

void emit_unknown(Lowering& l, NodeIndex node) {
  if (l.failed()) return;
  // Without a noted shape, the largest input's is the best guess.
  const Extents* largest = nullptr;
  double most = 0.0;
  for (const ValueIndex input : l.graph.node(node).inputs) {
    if (!l.is_data(input) || !l.dims(input)) continue;
    const auto shape = per_sample(*l.dims(input));
    if (!shape || static_cast<double>(elements(*shape)) <= most) continue;
    largest = &*l.dims(input);
    most = static_cast<double>(elements(*shape));
  }
  for (const ValueIndex out : l.graph.node(node).outputs) {
    if (out == kAbsent || !l.dims(out) || !all_known(*l.dims(out)) || per_sample(*l.dims(out))) continue;
    constexpr double kMostElements = 1e12;
    if (product(*l.dims(out)).value > kMostElements)
      return l.refuse(node, "its output {} is too large to simulate", to_text(*l.dims(out)));
  }
  for (const ValueIndex out : l.graph.node(node).outputs)
    if (out != kAbsent && largest != nullptr && !(l.dims(out) && per_sample(*l.dims(out)))) l.graph.value(out).dims = *largest;
  l.note_unknown(node);
  emit_by_bytes(l, node);
}

void emit_add(Lowering& l, NodeIndex node) {
  const ValueIndex out = l.output(node);
  if (l.is_bound(out)) return;  // the bias of a product before it
  if (l.graph.node(node).inputs.size() == 1) return emit_alias(l, node);
  const auto result = l.dims(out) ? per_sample(*l.dims(out)) : std::nullopt;
  const bool two = l.graph.node(node).inputs.size() == 2;
  const ValueIndex data = two ? lone_data(l, node) : kAbsent;
  if (!result || (two && data != kAbsent && l.dims(data) && per_sample(*l.dims(data)) != result)) return emit_by_bytes(l, node);
  if (data == kAbsent) {
    std::vector<TensorId> inputs = data_inputs(l, node);
    const bool even = inputs.size() == l.graph.node(node).inputs.size() &&
                      std::all_of(inputs.begin(), inputs.end(), [&](TensorId x) { return l.shape(x) == *result; });
    if (!even || l.type(node) == "Sub") return emit_by_bytes(l, node);
    return l.bind(node, out, l.emit(node, OpKind::add, inputs));
  }
  const ValueIndex other = l.input(node, 0) == data ? l.input(node, 1) : l.input(node, 0);
  if (l.is(other, Origin::constant)) return l.bind(node, out, l.emit(node, OpKind::mask, {l.tensor(data)}));
  const auto array = other != kAbsent && l.dims(other) ? whole(*l.dims(other)) : std::nullopt;
  const auto bias = array ? learned_bias(*result, *array) : std::nullopt;
  if (!bias) return emit_by_bytes(l, node);
  l.bind(node, out, l.emit(node, OpKind::learned_bias, {l.tensor(data)}, *bias, {other}));
}

void emit_multiply(Lowering& l, NodeIndex node) {
  const ValueIndex out = l.output(node);
  const auto result = l.dims(out) ? per_sample(*l.dims(out)) : std::nullopt;
  const ValueIndex data = lone_data(l, node);
  const bool divides = l.type(node) == "Div";
  if (data != kAbsent) {
    const ValueIndex other = l.input(node, 0) == data ? l.input(node, 1) : l.input(node, 0);
    const bool scale = l.is(other, Origin::constant) && is_scalar(l, other) && !(divides && data == l.input(node, 1));
    if (!scale || !result) return emit_by_bytes(l, node);
    // PyTorch keeps the number as a tensor of its own.
    const TensorId y = l.emit(node, OpKind::multiply, {l.tensor(data)}, MultiplyAttributes{true});
    return l.is_swapped(data) ? l.bind_swapped(out, y) : l.bind(node, out, y);
  }
  std::vector<TensorId> inputs = data_inputs(l, node);
  if (!result || divides || inputs.size() != 2) return emit_by_bytes(l, node);
  if (l.shape(inputs[0]) != *result) std::swap(inputs[0], inputs[1]);
  const Shape &x = l.shape(inputs[0]), &y = l.shape(inputs[1]);
  const bool channels = x.size() == 3 && y == Shape{x[0], 1, 1};
  if (x != *result || (x != y && !channels)) return emit_by_bytes(l, node);
  l.bind(node, out, l.emit(node, OpKind::multiply, inputs));
}

}  // namespace tbdsim::onnx
