#include "model/workload/saved_tensors.hpp"

#include <cassert>

#include "model/workload/shape_inference.hpp"

namespace tbdsim {
namespace {

constexpr Bytes kIndex{8.0};      // PyTorch's int64
constexpr Bytes kStatistic{4.0};  // means and deviations are fp32 whatever the data
constexpr Bytes kByteMask{1.0};
constexpr Bytes kArgument{4.0};  // int32 position of a region's maximum
constexpr Bytes kScalar{8.0};    // a double tensor without dimensions

double count(const Shape& shape) { return static_cast<double>(elements(shape)); }

/// Everything that a rule needs to know about one operator.
struct Context {
  const OpGraph& graph;
  const Op& op;
  Bytes element;
  bool fused_attention;

  [[nodiscard]] const Shape& input() const { return graph.input_shape(op); }
  [[nodiscard]] const Shape& output() const { return graph.output_shape(op); }
  [[nodiscard]] TensorId first() const { return op.inputs.front(); }
};

SavedByOp keep_input(const Context& c) { return {{c.first()}, {}, {}}; }
SavedByOp keep_output(const Context& c) { return {{c.op.output}, {}, {}}; }
SavedByOp keep_both(const Context& c) { return {{c.first(), c.op.output}, {}, {}}; }

/// A product keeps the operand whose partner needs a gradient; scaling by a constant keeps at most that (double).
SavedByOp keep_operands(const Context& c) {
  SavedByOp saved;
  if (c.op.inputs.size() != 2) {
    const auto* a = std::get_if<MultiplyAttributes>(&c.op.attributes);
    if (a != nullptr && a->keeps_scalar) saved.extra_fixed = kScalar;
    return saved;
  }
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (c.graph.tensor(c.op.inputs[1 - i]).needs_gradient) saved.tensors.push_back(c.op.inputs[i]);
  return saved;
}

SavedByOp keep_batch_norm(const Context& c) {
  const Shape& x = c.input();
  const auto channels = static_cast<double>(x.size() == 2 ? x[1] : x[0]);
  return {{c.first()}, {}, 2.0 * channels * kStatistic};
}

SavedByOp keep_layer_norm(const Context& c) {
  const Shape& x = c.input();
  return {{c.first()}, 2.0 * count(x) / static_cast<double>(x.back()) * kStatistic, {}};
}

SavedByOp keep_group_norm(const Context& c) {
  const auto groups = static_cast<double>(std::get<GroupNormAttributes>(c.op.attributes).groups);
  return {{c.first()}, 2.0 * groups * kStatistic, {}};
}

/// Gates, cell state and its tanh (LSTM), the recurrent part of the candidate (GRU), hidden state, stacked outputs:
/// per layer, direction, step and hidden unit.
SavedByOp keep_recurrent(const Context& c) {
  const auto& a = std::get<RecurrentAttributes>(c.op.attributes);
  const double states = c.op.kind == OpKind::lstm ? 4.0 : c.op.kind == OpKind::gru ? 3.0 : 2.0;
  const double per_unit = c.op.kind == OpKind::vanilla_rnn ? states : static_cast<double>(gates(c.op.kind)) + states;
  // The last layer's stacked outputs are the operator's own output.
  return {{c.first(), c.op.output}, (per_unit * static_cast<double>(a.layers) - 1.0) * count(c.output()) * c.element, {}};
}

/// Cells unrolled into MXNet's own operators, of which activations keep input and output. LSTM: four slices of the gates,
/// four activations, the cell state and its tanh, the hidden state. GRU: three sums and what becomes of them (6), the hidden
/// product (1), one minus the update gate, the product with it, the hidden state (3). Each step reads a slice of the input.
/// Source: apache/mxnet 1.1.0 python/mxnet/rnn/rnn_cell.py.
SavedByOp keep_cells(const Context& c) {
  const auto layers = static_cast<double>(std::get<RecurrentAttributes>(c.op.attributes).layers);
  const double arrays = c.op.kind == OpKind::lstm ? 11.0 : c.op.kind == OpKind::gru ? 10.0 : 2.0;
  return {{c.op.output}, (arrays * layers * count(c.output()) + count(c.input())) * c.element, {}};
}

/// Operands, and the weights of all scores; the fused kernel's result and one fp32 sum for each row of scores instead.
SavedByOp keep_attention(const Context& c) {
  SavedByOp kept{c.op.inputs, {}, {}};
  const auto heads = static_cast<double>(std::get<AttentionAttributes>(c.op.attributes).heads);
  const double rows = heads * static_cast<double>(c.output().front());
  if (c.fused_attention) {
    kept.tensors.push_back(c.op.output);
    kept.extra_per_sample = rows * Bytes(4.0);
  } else {
    kept.extra_per_sample = rows * static_cast<double>(c.graph.tensor(c.op.inputs[1]).shape.front()) * c.element;
  }
  return kept;
}

/// hardswish, hardsigmoid, SiLU and GELU differentiate at their input; in place, PyTorch keeps a copy of it.
SavedByOp keep_activation_autograd(const Context& c) {
  const ActivationKind kind = std::get<ActivationAttributes>(c.op.attributes).kind;
  const bool from_output = kind == ActivationKind::relu || kind == ActivationKind::tanh || kind == ActivationKind::sigmoid ||
                           (kind == ActivationKind::relu6 && c.op.inplace);
  if (from_output) return keep_output(c);
  if (c.op.inplace) return {{}, count(c.input()) * c.element, {}};
  return keep_input(c);
}

SavedByOp autograd(const Context& c, bool cuda) {
  switch (c.op.kind) {
    case OpKind::convolution:
    case OpKind::transposed_convolution:
    case OpKind::linear:
    case OpKind::global_average_pool:
    case OpKind::element_loss:
      return keep_input(c);
    case OpKind::batch_norm:
      return keep_batch_norm(c);
    case OpKind::activation:
      return keep_activation_autograd(c);
    case OpKind::pool:
      if (std::get<PoolAttributes>(c.op.attributes).kind == PoolKind::average) return keep_input(c);
      return {{c.first()}, count(c.output()) * kIndex, {}};
    case OpKind::multiply:
    case OpKind::matmul:
      return keep_operands(c);
    case OpKind::attention:
      return keep_attention(c);
    // What an unknown operator keeps is unknown: its operands, as most do.
    case OpKind::by_bytes:
      return {c.op.inputs, {}, {}};
    case OpKind::dropout:
      return {{}, count(c.output()) * (cuda ? kByteMask : c.element), {}};
    // x / (k + a * mean(x^2))^b, one operator each: the squares, the base of the power and the divisor.
    case OpKind::local_response_norm:
      return {{c.first()}, 3.0 * count(c.output()) * c.element, {}};
    case OpKind::softmax_loss:
    case OpKind::softmax:
      return keep_output(c);
    case OpKind::embedding:
      return {{}, count(c.input()) * kIndex, {}};
    case OpKind::lstm:
    case OpKind::gru:
    case OpKind::vanilla_rnn:
      return keep_recurrent(c);
    case OpKind::layer_norm:
      return keep_layer_norm(c);
    case OpKind::group_norm:
      return keep_group_norm(c);
    case OpKind::gather:
      return {{}, count(c.output()) / static_cast<double>(c.output().back()) * kIndex, {}};
    // Regions (four corners and the image's number) and, per output, where its maximum lies.
    case OpKind::roi_pool:
      return {{}, count(c.output()) * kArgument, {}};
    // Probabilities of every alignment state, as large as the input, beside the input.
    case OpKind::ctc_loss:
      return keep_both(c);
    case OpKind::input:
    case OpKind::add:
    case OpKind::concat:
    case OpKind::slice:
    case OpKind::reshape:
    case OpKind::channel_shuffle:
    case OpKind::pad:
    case OpKind::identity:
    case OpKind::transpose:
    case OpKind::mask:
    case OpKind::learned_bias:
    case OpKind::prepend_token:
    case OpKind::reduce:
    case OpKind::pairwise_add:
    case OpKind::upsample:
    case OpKind::proposals:
    case OpKind::sequence_reverse:
      return {};
  }
  assert(false);
  return {};
}

bool is_mxnet(SavingRules rules) { return rules == SavingRules::mxnet || rules == SavingRules::mxnet_later; }

SavedByOp mxnet(const Context& c, bool later) {
  switch (c.op.kind) {
    case OpKind::activation:
      if (later && std::get<ActivationAttributes>(c.op.attributes).kind == ActivationKind::relu) return keep_output(c);
      return keep_both(c);
    case OpKind::pool:
      if (later && std::get<PoolAttributes>(c.op.attributes).kind == PoolKind::max)
        return {{c.first(), c.op.output}, count(c.output()) * c.element, {}};
      return keep_both(c);
    case OpKind::global_average_pool:
      return keep_both(c);
    case OpKind::local_response_norm:
      return {{c.first(), c.op.output}, count(c.output()) * c.element, {}};
    case OpKind::embedding:
      return keep_input(c);
    case OpKind::lstm:
    case OpKind::gru:
    case OpKind::vanilla_rnn:
      return keep_cells(c);
    default:
      return autograd(c, false);
  }
}

/// TensorFlow composes both of small operators, each of which keeps its operands. GELU as x (1 + erf(x / sqrt 2)) / 2: the
/// scaled input and the factor beside x; layer norm as x a + (b - mean a): the factor a, as large as x, beside x.
SavedByOp tensorflow(const Context& c) {
  switch (c.op.kind) {
    case OpKind::activation:
      if (std::get<ActivationAttributes>(c.op.attributes).kind != ActivationKind::gelu) break;
      return {{c.first()}, 2.0 * count(c.input()) * c.element, {}};
    case OpKind::layer_norm: {
      SavedByOp kept = keep_layer_norm(c);
      kept.extra_per_sample += count(c.input()) * c.element;
      return kept;
    }
    case OpKind::pool:
      if (std::get<PoolAttributes>(c.op.attributes).kind == PoolKind::max) return keep_both(c);
      return {};
    case OpKind::global_average_pool:
      return {};
    case OpKind::local_response_norm:
      return keep_both(c);
    default:
      break;
  }
  return autograd(c, false);
}

SavedByOp saved_by(const Context& c, SavingRules rules) {
  switch (rules) {
    case SavingRules::mxnet:
    case SavingRules::mxnet_later:
      return mxnet(c, rules == SavingRules::mxnet_later);
    case SavingRules::tensorflow:
      return tensorflow(c);
    case SavingRules::autograd:
    case SavingRules::autograd_cuda:
      break;
  }
  return autograd(c, rules == SavingRules::autograd_cuda);
}

bool is_view(OpKind kind, SavingRules rules) {
  const bool views_slices = rules == SavingRules::autograd || rules == SavingRules::autograd_cuda;
  return kind == OpKind::reshape || kind == OpKind::identity || (kind == OpKind::slice && views_slices);
}

}  // namespace

std::vector<SavedByOp> saved_by_ops(const OpGraph& graph, SavingRules rules, Bytes element, bool fused_attention) {
  std::vector<SavedByOp> saved(graph.ops.size());
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Context c{graph, graph.ops[i], element, fused_attention};
    if (!graph.tensor(c.op.output).needs_gradient) continue;
    saved[i] = saved_by(c, rules);
  }
  return saved;
}

std::vector<TensorId> storage_of(const OpGraph& graph, SavingRules rules) {
  std::vector<TensorId> storage(graph.tensors.size());
  for (const Op& op : graph.ops) {
    const bool shares = is_view(op.kind, rules) || (op.inplace && !is_mxnet(rules));
    storage[static_cast<std::size_t>(op.output.value)] =
        shares ? storage[static_cast<std::size_t>(op.inputs.front().value)] : op.output;
  }
  return storage;
}

SavedBytes saved_bytes(const OpGraph& graph, SavingRules rules, Bytes element, bool fused_attention) {
  const std::vector<SavedByOp> saved = saved_by_ops(graph, rules, element, fused_attention);
  const std::vector<TensorId> storage = storage_of(graph, rules);
  std::vector<bool> counted(graph.tensors.size(), false);
  SavedBytes total;
  for (std::size_t i = 0; i < saved.size(); ++i) {
    if (is_loss(graph.ops[i].kind)) continue;
    total.per_sample += saved[i].extra_per_sample;
    total.fixed += saved[i].extra_fixed;
    for (const TensorId tensor : saved[i].tensors) {
      const TensorId owner = storage[static_cast<std::size_t>(tensor.value)];
      if (counted[static_cast<std::size_t>(owner.value)]) continue;
      counted[static_cast<std::size_t>(owner.value)] = true;
      total.per_sample += count(graph.tensor(owner).shape) * element;
    }
  }
  return total;
}

}  // namespace tbdsim
