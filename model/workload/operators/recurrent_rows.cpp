// Recurrent layers: LSTM, GRU and the plain cell.
#include <fmt/format.h>

#include <cassert>

#include "model/workload/operators/row_groups.hpp"
#include "model/workload/operators/saving.hpp"
#include "model/workload/operators/shape_rules.hpp"
#include "model/workload/shape_inference.hpp"

namespace tbdsim {
namespace {

/// What the cells differ in, each per hidden unit and step.
struct Cell {
  OpKind kind;
  std::int64_t gates;
  /// Gates, cell state and its tanh (LSTM), the recurrent part of the candidate (GRU), hidden state, stacked outputs.
  double kept;
  /// Arrays of cells unrolled into MXNet's own operators, of which activations keep input and output. LSTM: four slices of the
  /// gates, four activations, the cell state and its tanh, the hidden state. GRU: three sums and what becomes of them (6), the
  /// hidden product (1), one minus the update gate, the product with it, the hidden state (3).
  /// Source: apache/mxnet 1.1.0 python/mxnet/rnn/rnn_cell.py.
  double unrolled;
};
constexpr Cell kCells[]{{OpKind::lstm, 4, 8, 11}, {OpKind::gru, 3, 6, 10}, {OpKind::vanilla_rnn, 1, 2, 2}};

const Cell& cell_of(OpKind kind) {
  for (const Cell& cell : kCells)
    if (cell.kind == kind) return cell;
  assert(false);
  return kCells[0];
}

InferredShape recurrent_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto& a = std::get<RecurrentAttributes>(attributes);
  const Shape& x = *inputs[0];
  if (x.size() != 2) return wants_sequence(x);
  if (a.hidden < 1 || a.layers < 1)
    return refuse_shape("hidden and layers must be at least 1, got {} and {}", a.hidden, a.layers);
  return Shape{x[0], a.hidden * (a.bidirectional ? 2 : 1)};
}

std::vector<ParameterSpec> recurrent_arrays(const ParameterRequest& r) {
  const auto& a = std::get<RecurrentAttributes>(r.attributes);
  std::vector<ParameterSpec> specs;
  const std::int64_t rows = gates(r.kind) * a.hidden;
  const int directions = a.bidirectional ? 2 : 1;
  using Role = ParameterSpec::Role;
  for (std::int64_t layer = 0; layer < a.layers; ++layer) {
    const std::int64_t columns = layer == 0 ? r.input.back() : a.hidden * directions;
    for (int direction = 0; direction < directions; ++direction) {
      const std::string suffix = fmt::format("l{}{}", layer, direction == 1 ? "_reverse" : "");
      specs.push_back({Role::recurrent, {rows, columns}, "weight_ih_" + suffix});
      specs.push_back({Role::recurrent, {rows, a.hidden}, "weight_hh_" + suffix});
      if (!a.bias) continue;
      specs.push_back({Role::recurrent, {rows}, "bias_ih_" + suffix});
      specs.push_back({Role::recurrent, {rows}, "bias_hh_" + suffix});
    }
  }
  return specs;
}

std::int64_t recurrent_macs(const OpGraph& graph, const Op& op) {
  const auto& a = std::get<RecurrentAttributes>(op.attributes);
  const Shape& input = graph.input_shape(op);
  const std::int64_t directions = a.bidirectional ? 2 : 1;
  std::int64_t weights = 0;
  for (std::int64_t layer = 0; layer < a.layers; ++layer) {
    const std::int64_t columns = layer == 0 ? input.back() : a.hidden * directions;
    weights += directions * gates(op.kind) * a.hidden * (columns + a.hidden);
  }
  return weights * input.front();
}

/// A recurrent layer needs the gradient of its hidden state and of its weights; that of the first state only where
/// another layer made it, that of the first layer's input only where something upstream learns.
std::int64_t recurrent_backward_macs(const OpGraph& graph, const Op& op) {
  const auto& a = std::get<RecurrentAttributes>(op.attributes);
  const std::int64_t rows = (a.bidirectional ? 2 : 1) * gates(op.kind) * a.hidden;
  std::int64_t spared = a.state_given ? 0 : a.layers * rows * a.hidden;
  const Shape& x = graph.input_shape(op);
  if (!graph.tensor(op.inputs.front()).needs_gradient) spared += rows * x.back() * x.front();
  return 2 * recurrent_macs(graph, op) - spared;
}

/// Per layer, direction, step and hidden unit. The last layer's stacked outputs are the operator's own output. MXNet's steps
/// each read a slice of the input.
SavedByOp keep_recurrent(const SavingContext& c) {
  const auto layers = static_cast<double>(std::get<RecurrentAttributes>(c.op.attributes).layers);
  const Cell& cell = cell_of(c.op.kind);
  if (c.mxnet())
    return {{c.op.output}, (cell.unrolled * layers * saved_count(c.output()) + saved_count(c.input())) * c.element, {}};
  return {{c.first(), c.op.output}, (cell.kept * layers - 1.0) * saved_count(c.output()) * c.element, {}};
}

constexpr std::string_view kLstmNames[]{"LSTM"}, kGruNames[]{"GRU"}, kPlainNames[]{"RNN"};

constexpr OperatorRow recurrent_row(OpKind kind, std::string_view name, std::span<const std::string_view> onnx) {
  return {
      .kind = kind,
      .name = name,
      .takes = "sequence",
      .keys =
          "`hidden`; `layers` (1), `bidirectional` (false), `bias` (true), `state_given` (false): starts from another layer's "
          "state",
      .family = OpFamily::recurrent,
      .attributes = defaults<RecurrentAttributes>,
      .shape = recurrent_shape,
      .parameters = recurrent_arrays,
      .macs = recurrent_macs,
      .backward_macs = recurrent_backward_macs,
      .saved = keep_recurrent,
      .mirrored = false,
      .autocast = AutocastRule::narrow,
      .onnx = onnx,
  };
}

constexpr OperatorRow kRows[]{
    recurrent_row(OpKind::lstm, "lstm", kLstmNames),
    recurrent_row(OpKind::gru, "gru", kGruNames),
    recurrent_row(OpKind::vanilla_rnn, "vanilla_rnn", kPlainNames),
};

}  // namespace

std::int64_t gates(OpKind kind) { return cell_of(kind).gates; }

std::span<const OperatorRow> recurrent_rows() { return kRows; }

}  // namespace tbdsim
