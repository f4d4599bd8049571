// Recurrent layers. PyTorch writes each layer of a stack as a node of its own; those that feed each other alone are one
// operator again, as the library runs them.
#include <algorithm>

#include "model/workload/onnx/rules.hpp"

namespace tbdsim::onnx {
namespace {

constexpr std::int64_t kMostHidden = 1000000;

OpKind cell(std::string_view type) { return type == "LSTM" ? OpKind::lstm : type == "GRU" ? OpKind::gru : OpKind::vanilla_rnn; }

/// A layer of the stack: its node and the value that holds its outputs as a sequence.
struct Layer {
  NodeIndex node = kAbsent;
  ValueIndex sequence = kAbsent;
};

bool bidirectional(const Lowering& l, NodeIndex node) {
  const AttributeText* a = l.attribute(node, "direction");
  return a != nullptr && a->text == "bidirectional";
}

bool starts_from_data(const Lowering& l, NodeIndex node) {
  return l.is_data(l.input(node, 5)) || (l.type(node) == "LSTM" && l.is_data(l.input(node, 6)));
}

/// Follows the outputs (T, directions, N, H) through the nodes that make one sequence (T, N, directions x H) of them.
ValueIndex sequence_after(const Lowering& l, ValueIndex value) {
  for (int hops = 0; hops < 3; ++hops) {
    const auto reader = l.only_reader(value);
    if (!reader) break;
    const std::string_view type = l.type(*reader);
    if ((type != "Squeeze" && type != "Transpose" && type != "Reshape") || l.input(*reader, 0) != value) break;
    // Batch first again is not part of the layer.
    if (type == "Transpose" && hops > 0) break;
    value = l.output(*reader);
    if (type != "Transpose") break;
  }
  return value;
}

/// The layer on top, where it reads this one alone and is built alike.
std::optional<NodeIndex> layer_above(const Lowering& l, const Layer& layer) {
  const auto reader = l.only_reader(layer.sequence);
  if (!reader || l.type(*reader) != l.type(layer.node) || l.input(*reader, 0) != layer.sequence) return std::nullopt;
  const bool alike = l.integer(*reader, "hidden_size", 0) == l.integer(layer.node, "hidden_size", 0) &&
                     bidirectional(l, *reader) == bidirectional(l, layer.node) &&
                     starts_from_data(l, *reader) == starts_from_data(l, layer.node) &&
                     l.has_input(*reader, 3) == l.has_input(layer.node, 3) &&
                     l.is_taken(l.input(*reader, 1)) == l.is_taken(l.input(layer.node, 1));
  return alike ? reader : std::nullopt;
}

std::vector<Layer> layers_from(const Lowering& l, NodeIndex node) {
  std::vector<Layer> layers{{node, sequence_after(l, l.output(node))}};
  while (const auto above = layer_above(l, layers.back())) layers.push_back({*above, sequence_after(l, l.output(*above))});
  return layers;
}

/// T, directions, N, H and directions, N, H.
void set_output_dims(Lowering& l, NodeIndex node, const Extents& x, double hidden) {
  const Number directions{bidirectional(l, node) ? 2.0 : 1.0}, units{hidden};
  l.set_dims(l.output(node, 0), {x[0], directions, x[1], units});
  l.set_dims(l.output(node, 1), {directions, x[1], units});
  l.set_dims(l.output(node, 2), {directions, x[1], units});
}

}  // namespace

void emit_recurrent(Lowering& l, NodeIndex node) {
  const ValueIndex x = l.input(node, 0);
  const auto hidden = l.integer(node, "hidden_size", 0);
  const auto shape = x != kAbsent && l.dims(x) ? per_sample(*l.dims(x)) : std::nullopt;
  if (!shape || shape->size() != 2 || !(*l.dims(x))[1].batch || hidden < 1 || hidden > kMostHidden)
    return l.refuse(node, "expected a sequence T x N x H and a hidden size of at least 1, got {} and {}",
                    x != kAbsent && l.dims(x) ? to_text(*l.dims(x)) : "an unknown shape", hidden);
  set_output_dims(l, node, *l.dims(x), static_cast<double>(hidden));
  if (l.output(node) != kAbsent && l.is_bound(l.output(node))) return;  // a layer of the stack below
  const std::vector<Layer> layers = layers_from(l, node);
  RecurrentAttributes a{hidden, static_cast<std::int64_t>(layers.size()), bidirectional(l, node), l.has_input(node, 3),
                        starts_from_data(l, node)};
  std::vector<ValueIndex> weights;
  for (const Layer& layer : layers)
    for (std::size_t i = 1; i <= 3; ++i)
      if (l.has_input(layer.node, i)) weights.push_back(l.input(layer.node, i));
  const TensorId y = l.emit(node, cell(l.type(node)), {l.tensor(x)}, a, weights);
  // What a layer below puts out goes into the one above alone, and stands for the whole.
  for (const Layer& layer : layers) {
    if (l.output(layer.node) != kAbsent) l.bind_outputs(l.output(layer.node), y);
    for (std::size_t i = 1; i < 3; ++i)
      if (l.output(layer.node, i) != kAbsent) l.bind_state(l.output(layer.node, i), y);
  }
}

}  // namespace tbdsim::onnx
