#include "model/memory/mxnet_graph.hpp"

#include <algorithm>

#include "model/memory/mxnet_cells.hpp"
#include "model/workload/recompute.hpp"

namespace tbdsim {
namespace {

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

// MXNET_EXEC_INPLACE_GRAD_SUM_CAP: from so many gradients on they are added one by one.
constexpr std::size_t kSumCap = 8;
// A label's gradient, which SoftmaxOutput's backward operator makes although nobody wants it.
constexpr Bytes kLabel{4.0};

/// In-place options of one operator kind, as indices of (input, output).
struct InplaceRules {
  std::vector<InplacePair> forward, backward;
};

InplaceRules inplace_rules(const Op& op) {
  switch (op.kind) {
    case OpKind::activation:
    case OpKind::dropout:
      return {{{0, 0}}, {{0, 0}}};
    case OpKind::add:
      return {{{0, 0}, {1, 0}}, {}};
    case OpKind::reshape:
    case OpKind::identity:
      return {{{0, 0, true}}, {{0, 0, true}}};
    case OpKind::softmax_loss:
      return {{{0, 0}}, {{0, 0}}};
    case OpKind::linear:
      return {{}, {{1, 0}}};  // the gradient of the input replaces the input
    case OpKind::multiply:
      if (op.inputs.size() == 2) return {{{0, 0}, {1, 0}}, {{0, 1}}};
      return {{{0, 0}}, {{0, 0}}};
    default:
      return {};
  }
}

class Builder {
 public:
  Builder(const OpGraph& graph, SavingRules rules, double batch, Bytes element, bool mirrors)
      : graph_(graph), batch_(batch), element_(element), mirrors_(mirrors), saved_(saved_by_ops(graph, rules, element)) {
    out_.nodes.reserve(3 * graph.ops.size());
    out_.entries.reserve(4 * graph.ops.size());
    out_.producer.reserve(4 * graph.ops.size());
    entry_.assign(graph.tensors.size(), -1);
    extras_.assign(graph.ops.size(), {});
    gradients_.assign(graph.tensors.size(), {});
    step_gradients_.assign(graph.tensors.size(), {});
    cells_.assign(graph.ops.size(), {});
    backward_done_.assign(graph.ops.size(), false);
    forward_node_.assign(graph.ops.size(), -1);
    copied_.assign(graph.ops.size(), false);
    parameter_gradient_.assign(graph.ops.size(), -1);
  }

  PlanGraph build() {
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) forward(OpId{static_cast<std::int32_t>(i)});
    for (const Tensor& tensor : graph_.tensors)
      if (tensor.consumers.empty()) out_.heads.push_back(entry_[index(graph_.op(tensor.producer).output.value)]);
    const std::vector<std::int32_t> order = execution_order(out_);
    for (auto node = order.rbegin(); node != order.rend(); ++node) backward(out_.nodes[index(*node)].op);
    // The executor wants the gradients of the arguments in the order in which the forward walk meets them.
    for (const std::int32_t node : order) {
      std::int32_t& wanted = parameter_gradient_[index(out_.nodes[index(node)].op.value)];
      if (wanted >= 0) out_.heads.push_back(wanted);
      wanted = -1;
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] PlanEntry array(TensorId tensor, MemoryPart part, OpId op) const {
    return {batch_ * static_cast<double>(elements(graph_.tensor(tensor).shape)) * element_, part, op, false};
  }

  void forward(OpId id, bool copy = false) {
    const Op& op = graph_.op(id);
    if (unrolled_cells(op)) return forward_cells(op, id);
    PlanNode node;
    node.op = id;
    node.backward = copy;
    for (const TensorId input : op.inputs) node.inputs.push_back(entry_[index(input.value)]);
    node.inplace = inplace_rules(op).forward;
    std::vector<PlanEntry> made{array(op.output, MemoryPart::feature_maps, id)};
    if (op.kind == OpKind::input) {
      made.front().external = true;
      entry_[index(op.output.value)] = out_.add(std::move(node), made);
      return;
    }
    const SavedByOp& saved = saved_[index(id.value)];
    if (saved.extra_per_sample > Bytes(0.0))
      made.push_back({batch_ * saved.extra_per_sample, MemoryPart::feature_maps, id, false});
    // Batch norm: mean and variance, two arrays.
    if (saved.extra_fixed > Bytes(0.0))
      made.insert(made.end(), 2, PlanEntry{saved.extra_fixed / 2.0, MemoryPart::feature_maps, id, false});
    forward_node_[index(id.value)] = static_cast<std::int32_t>(out_.nodes.size());
    const std::int32_t first = out_.add(std::move(node), made);
    entry_[index(op.output.value)] = first;
    extras_[index(id.value)].clear();
    for (std::size_t i = 1; i < made.size(); ++i) extras_[index(id.value)].push_back(first + static_cast<std::int32_t>(i));
  }

  /// Replaces what a mirrored operator has made by a copy, made of copies where its inputs are mirrored, too.
  void mirror(OpId id) {
    if (!mirrors_ || copied_[index(id.value)] || !mirrored(graph_.op(id))) return;
    copied_[index(id.value)] = true;
    for (const TensorId input : graph_.op(id).inputs) mirror(graph_.tensor(input).producer);
    forward(id, true);
  }

  [[nodiscard]] CellSizes cell_sizes(const Op& op, OpId id) const {
    CellSizes sizes;
    sizes.input = batch_ * static_cast<double>(graph_.input_shape(op).back()) * element_;
    sizes.state = batch_ * static_cast<double>(graph_.output_shape(op).back()) * element_;
    for (const ParameterId p : op.parameters)
      sizes.parameters += static_cast<double>(elements(graph_.parameter(p).shape)) * element_;
    sizes.op = id;
    return sizes;
  }

  /// Cuts an array into its steps, or joins them: `count` arrays of `bytes` each.
  std::int32_t rearrange(std::vector<std::int32_t> inputs, OpId id, bool backward, std::size_t count, Bytes bytes) {
    PlanNode node;
    node.op = id;
    node.backward = backward;
    node.inputs = std::move(inputs);
    const std::vector<PlanEntry> made(count,
                                      PlanEntry{bytes, backward ? MemoryPart::dynamic : MemoryPart::feature_maps, id, false});
    return out_.add(std::move(node), made);
  }

  /// Cells that follow cells read their states one by one.
  void forward_cells(const Op& op, OpId id) {
    const CellSizes sizes = cell_sizes(op, id);
    const auto length = static_cast<std::size_t>(graph_.output_shape(op).front());
    const OpId before = graph_.tensor(op.inputs.front()).producer;
    std::vector<std::int32_t> inputs = cells_[index(before.value)].hidden;
    if (inputs.empty()) {
      const std::int32_t first = rearrange({entry_[index(op.inputs.front().value)]}, id, false, length, sizes.input);
      for (std::size_t t = 0; t < length; ++t) inputs.push_back(first + static_cast<std::int32_t>(t));
    }
    const CellSteps& steps = cells_[index(id.value)] = add_cells(out_, sizes, inputs);
    forward_node_[index(id.value)] = static_cast<std::int32_t>(out_.nodes.size()) - 1;
    const std::vector<OpId>& consumers = graph_.tensor(op.output).consumers;
    if (std::all_of(consumers.begin(), consumers.end(), [&](OpId c) { return unrolled_cells(graph_.op(c)); })) return;
    entry_[index(op.output.value)] = rearrange(steps.hidden, id, false, 1, static_cast<double>(length) * sizes.state);
  }

  void backward_cells(const Op& op, OpId id) {
    const CellSizes sizes = cell_sizes(op, id);
    const CellSteps& steps = cells_[index(id.value)];
    const std::size_t length = steps.hidden.size();
    std::vector<std::vector<std::int32_t>>& hidden = step_gradients_[index(op.output.value)];
    hidden.resize(length);
    if (const std::int32_t joined = gradient(op.output); joined >= 0) {
      const std::int32_t first = rearrange({joined}, id, true, length, sizes.state);
      for (std::size_t t = 0; t < length; ++t) hidden[t].push_back(first + static_cast<std::int32_t>(t));
    }
    if (hidden.front().empty()) return;
    const CellGradients made = add_cells_backward(out_, sizes, steps, hidden);
    parameter_gradient_[index(id.value)] = made.parameters;
    const TensorId input = op.inputs.front();
    if (!cells_[index(graph_.tensor(input).producer.value)].hidden.empty()) {
      auto& before = step_gradients_[index(input.value)];
      before.resize(length);
      for (std::size_t t = 0; t < length; ++t) before[t].push_back(made.input[t]);
    } else {
      gradients_[index(input.value)].push_back(rearrange(made.input, id, true, 1, static_cast<double>(length) * sizes.input));
    }
  }

  /// The one gradient of a tensor, summed where there are several; -1 without any.
  std::int32_t gradient(TensorId tensor) {
    std::vector<std::int32_t>& parts = gradients_[index(tensor.value)];
    if (parts.size() <= 1) return parts.empty() ? -1 : parts.front();
    const PlanEntry made = array(tensor, MemoryPart::dynamic, graph_.tensor(tensor).producer);
    const auto sum = [&](std::vector<std::int32_t> inputs) {
      PlanNode node;
      node.op = made.op;
      node.backward = true;
      node.inputs = std::move(inputs);
      node.inplace = {{0, 0}};
      return out_.add(std::move(node), {&made, 1});
    };
    if (parts.size() < kSumCap) return sum(parts);
    std::int32_t total = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) total = sum({total, parts[i]});
    return total;
  }

  void backward(OpId id) {
    const Op& op = graph_.op(id);
    if (op.kind == OpKind::input || !graph_.tensor(op.output).needs_gradient || backward_done_[index(id.value)]) return;
    backward_done_[index(id.value)] = true;
    if (unrolled_cells(op)) return backward_cells(op, id);
    const bool loss = op.kind == OpKind::softmax_loss;
    const std::int32_t incoming = loss ? -1 : gradient(op.output);
    if (incoming < 0 && !loss) return;
    if (op.kind == OpKind::add) {
      for (const TensorId input : op.inputs) gradients_[index(input.value)].push_back(incoming);
      return;
    }
    PlanNode node;
    node.op = id;
    node.backward = true;
    if (!loss) node.inputs.push_back(incoming);
    const SavedByOp& saved = saved_[index(id.value)];
    for (const TensorId tensor : saved.tensors) mirror(graph_.tensor(tensor).producer);
    mirror(id);
    node.after = forward_node_[index(id.value)];
    // Output before input, as activation, pooling and normalisation ask for them.
    for (auto tensor = saved.tensors.rbegin(); tensor != saved.tensors.rend(); ++tensor)
      node.inputs.push_back(entry_[index(tensor->value)]);
    for (const std::int32_t extra : extras_[index(id.value)]) node.inputs.push_back(extra);
    node.inplace = inplace_rules(op).backward;
    std::vector<PlanEntry> made;
    if (op.kind != OpKind::embedding)
      for (const TensorId input : op.inputs) made.push_back(array(input, MemoryPart::dynamic, id));
    const auto data = static_cast<std::int32_t>(made.size());
    if (loss) made.push_back({batch_ * kLabel, MemoryPart::dynamic, id, false});
    if (!op.parameters.empty()) made.push_back({Bytes(0.0), MemoryPart::gradients, id, true});
    const std::int32_t first = out_.add(std::move(node), made);
    for (std::int32_t i = 0; i < data; ++i) gradients_[index(op.inputs[index(i)].value)].push_back(first + i);
    if (!op.parameters.empty()) parameter_gradient_[index(id.value)] = first + static_cast<std::int32_t>(made.size()) - 1;
  }

  const OpGraph& graph_;
  double batch_;
  Bytes element_;
  bool mirrors_;
  std::vector<SavedByOp> saved_;
  PlanGraph out_;
  std::vector<std::int32_t> entry_;                                     ///< of each tensor
  std::vector<std::vector<std::int32_t>> extras_;                       ///< of each operator: entries beside its output
  std::vector<std::vector<std::int32_t>> gradients_;                    ///< of each tensor: entries to be added
  std::vector<std::vector<std::vector<std::int32_t>>> step_gradients_;  ///< of each tensor between cells, of each step
  std::vector<CellSteps> cells_;                                        ///< of each operator that is unrolled
  std::vector<bool> backward_done_;                                     ///< of each operator
  std::vector<std::int32_t> forward_node_;                              ///< of each operator: the copy once there is one
  std::vector<bool> copied_;                                            ///< of each operator
  std::vector<std::int32_t> parameter_gradient_;  ///< of each operator: the entry that stands for all its arrays
};

}  // namespace

bool unrolled_cells(const Op& op) {
  if (op.kind != OpKind::lstm) return false;
  const auto& a = std::get<RecurrentAttributes>(op.attributes);
  return a.layers == 1 && !a.bidirectional;
}

PlanGraph mxnet_graph(const OpGraph& graph, SavingRules rules, double batch, Bytes element, bool mirrors) {
  return Builder(graph, rules, batch, element, mirrors).build();
}

}  // namespace tbdsim
