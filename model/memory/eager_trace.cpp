#include "model/memory/eager_trace.hpp"

#include <algorithm>
#include <cassert>

namespace tbdsim {
namespace {

constexpr std::int32_t kNone = -1;

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
std::size_t index(OpId id) { return index(id.value); }
std::size_t index(TensorId id) { return index(id.value); }

bool passes_gradient_on(const Op& op, SavingRules rules) {
  switch (op.kind) {
    case OpKind::add:
    case OpKind::reshape:
    case OpKind::identity:
      return true;
    case OpKind::concat:  // PyTorch's are views of the whole, TensorFlow's are copies
    case OpKind::slice:
      return op.kind == OpKind::concat && rules != SavingRules::tensorflow;
    default:
      return false;
  }
}

class Tracer {
 public:
  Tracer(const OpGraph& graph, std::span<const StepNode> nodes, std::span<const NodeCost> costs, const EagerOptions& options)
      : graph_(graph),
        nodes_(nodes),
        costs_(costs),
        options_(options),
        saved_(saved_by_ops(graph, options.rules, options.element, options.fused_attention)),
        storage_(storage_of(graph, options.rules)) {
    state_.resize(graph.tensors.size());
    ops_.resize(graph.ops.size());
    trace_.arrays.reserve(4 * nodes.size());
    trace_.events.reserve(8 * nodes.size());
  }

  AllocationTrace run() {
    plan_passes();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      node_ = static_cast<std::int32_t>(i);
      const std::int32_t workspace =
          costs_.empty() ? kNone : make(costs_[i].kernel.workspace, MemoryPart::workspace, nodes_[i].op);
      if (nodes_[i].pass == Pass::forward)
        forward(nodes_[i].op);
      else if (nodes_[i].pass == Pass::update)
        update(nodes_[i]);
      else if (nodes_[i].pass != Pass::gradient_sum)
        backward(nodes_[i]);
      drop(workspace);
    }
    for (Lifetime& array : trace_.arrays)
      if (array.death == kNone) array.death = static_cast<std::int32_t>(nodes_.size());
    return std::move(trace_);
  }

 private:
  /// Of a tensor that owns memory: its array, and how many readers are still to come.
  struct State {
    std::int32_t array = kNone;
    int forward_readers = 0;   ///< forward nodes
    int second_readers = 0;    ///< the part of them that reads the array of a second pass
    int backward_readers = 0;  ///< operators whose backward reads it
    std::int32_t gradient = kNone;
  };
  struct OpState {
    std::int32_t gathered = kNone;  ///< outputs of all GPUs, of a loss that reads them again
    std::int32_t extra = kNone;     ///< masks, indices, statistics
    std::int32_t second = kNone;    ///< node of the second pass; none: computed once
    bool computed = false;          ///< the first pass is over
    int backward_nodes = 0;         ///< still to come
    bool keeps = false;             ///< its saved tensors are held
  };

  void plan_passes() {
    std::vector<bool> seen(graph_.ops.size(), false);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const StepNode& node = nodes_[i];
      if (is_backward(node.pass)) ++ops_[index(node.op)].backward_nodes;
      if (node.pass != Pass::forward) continue;
      if (seen[index(node.op)]) ops_[index(node.op)].second = static_cast<std::int32_t>(i);
      seen[index(node.op)] = true;
    }
    for (const Op& op : graph_.ops) {
      const std::int32_t second = ops_[index(graph_.tensor(op.output).producer)].second;
      for (const TensorId input : op.inputs) {
        State& s = owner(input);
        ++s.forward_readers;
        if (second == kNone) continue;
        // Backward goes through the segments from the last to the first: a reader that is recomputed before its input
        // is reads the array of the first pass.
        const std::int32_t made = ops_[index(graph_.tensor(storage_[index(input)]).producer)].second;
        ++(made == kNone || second < made ? s.forward_readers : s.second_readers);
      }
    }
  }

  static bool is_backward(Pass pass) {
    return pass == Pass::backward || pass == Pass::backward_data || pass == Pass::backward_weights;
  }

  State& owner(TensorId tensor) { return state_[index(storage_[index(tensor)])]; }

  std::int32_t make(Bytes bytes, MemoryPart part, OpId op) {
    if (bytes <= Bytes(0.0)) return kNone;
    const auto array = static_cast<std::int32_t>(trace_.arrays.size());
    trace_.arrays.push_back({bytes, part, op, node_, kNone});
    references_.push_back(1);
    trace_.events.push_back({array, node_, false});
    return array;
  }
  void share(std::int32_t array) { ++references_[index(array)]; }
  void drop(std::int32_t array) {
    if (array == kNone || --references_[index(array)] > 0) return;
    trace_.arrays[index(array)].death = node_ + 1;
    trace_.events.push_back({array, node_, true});
  }

  Bytes size(TensorId tensor) const { return size(tensor, options_.element); }
  Bytes size(TensorId tensor, Bytes element) const {
    return options_.batch * static_cast<double>(elements(graph_.tensor(tensor).shape)) * element;
  }

  void release_unread(State& s) {
    if (s.array == kNone || s.forward_readers > 0 || s.backward_readers > 0) return;
    drop(s.array);
    s.array = kNone;
  }

  /// The loss of outputs that are gathered from several GPUs: as many times each array, and the gathered outputs themselves;
  /// where it does not run, nothing.
  [[nodiscard]] double times(const Op& op) const {
    return is_loss(op.kind) ? static_cast<double>(options_.loss_gathered.value_or(1)) : 1.0;
  }
  std::int32_t gather(OpId id) {
    const Op& op = graph_.op(id);
    const bool gathers = is_loss(op.kind) && options_.loss_gathered;
    return gathers ? make(times(op) * size(op.inputs.front()), MemoryPart::exchange, id) : kNone;
  }

  void forward(OpId id) {
    const Op& op = graph_.op(id);
    OpState& state = ops_[index(id)];
    const std::int32_t gathered = gather(id);
    State& out = state_[index(op.output)];
    if (state.computed) {
      drop(out.array);
      out.array = kNone;
      out.forward_readers = out.second_readers;
    }
    const bool widens = options_.loss_element && is_loss(op.kind);
    const std::int32_t wide =
        widens ? make(times(op) * size(op.inputs.front(), *options_.loss_element), MemoryPart::dynamic, id) : kNone;
    if (storage_[index(op.output)] == op.output)
      out.array =
          make(times(op) * size(op.output, widens ? *options_.loss_element : options_.element), MemoryPart::feature_maps, id);
    if (state.computed || state.second == kNone) keep(id, state);
    state.computed = true;
    for (const TensorId input : op.inputs) {
      State& s = owner(input);
      --s.forward_readers;
      release_unread(s);
    }
    drop(wide);
    const std::vector<TensorId>& held = saved_[index(id)].tensors;
    const bool reads_again = gathered != kNone && std::find(held.begin(), held.end(), op.inputs.front()) != held.end();
    if (reads_again)
      state.gathered = gathered;
    else
      drop(gathered);
  }

  /// Holds what backward of this operator reads.
  void keep(OpId id, OpState& state) {
    if (state.backward_nodes == 0) return;
    const SavedByOp& saved = saved_[index(id)];
    state.keeps = true;
    for (const TensorId tensor : saved.tensors) ++owner(tensor).backward_readers;
    state.extra =
        make(times(graph_.op(id)) * options_.batch * saved.extra_per_sample + saved.extra_fixed, MemoryPart::feature_maps, id);
  }

  void backward(const StepNode& node) {
    const Op& op = graph_.op(node.op);
    OpState& state = ops_[index(node.op)];
    if (node.pass != Pass::backward_data) parameter_gradients(op);
    if (node.pass != Pass::backward_weights) input_gradients(node.op);
    if (--state.backward_nodes > 0) return;
    State& out = state_[index(op.output)];
    drop(out.gradient);
    out.gradient = kNone;
    drop(state.gathered);
    state.gathered = kNone;
    if (!state.keeps) return;
    for (const TensorId tensor : saved_[index(node.op)].tensors) {
      State& s = owner(tensor);
      --s.backward_readers;
      release_unread(s);
    }
    drop(state.extra);
    state.extra = kNone;
  }

  void update(const StepNode& node) {
    if (options_.flattens_updates && !flattened_) {
      make(static_cast<double>(graph_.parameter_elements()) * options_.update_arrays * options_.update_element,
           MemoryPart::dynamic, node.op);
      flattened_ = true;
    }
    const Parameter& parameter = graph_.parameter(node.parameter);
    const auto count = static_cast<double>(elements(parameter.shape));
    const std::int32_t made = make(count * options_.update_arrays * options_.update_element, MemoryPart::dynamic, parameter.op);
    // What is not dropped goes with the step.
    if (!options_.updates_together) drop(made);
  }

  void parameter_gradients(const Op& op) {
    for (const ParameterId id : op.parameters) {
      const Bytes bytes = static_cast<double>(elements(graph_.parameter(id).shape)) * options_.gradient_element;
      const std::int32_t fresh =
          make(bytes, options_.keeps_gradients ? MemoryPart::dynamic : MemoryPart::gradients, graph_.parameter(id).op);
      if (options_.keeps_gradients) drop(fresh);
    }
  }

  void input_gradients(OpId id) {
    const Op& op = graph_.op(id);
    const std::int32_t incoming = state_[index(op.output)].gradient, gathered = gather(id);
    const bool passes_on = incoming != kNone && passes_gradient_on(op, options_.rules);
    for (const TensorId input : op.inputs) {
      if (!graph_.tensor(input).needs_gradient) continue;
      State& s = state_[index(input)];
      if (passes_on && s.gradient == kNone) {
        share(incoming);
        s.gradient = incoming;
        continue;
      }
      // Two tensors may share one gradient (an addition's): adding to it needs an array of its own.
      const std::int32_t fresh = make(size(input), MemoryPart::dynamic, graph_.tensor(input).producer);
      if (s.gradient == kNone) {
        s.gradient = fresh;
      } else if (references_[index(s.gradient)] > 1) {
        drop(s.gradient);
        s.gradient = fresh;
      } else {
        drop(fresh);
      }
    }
    drop(gathered);
  }

  const OpGraph& graph_;
  std::span<const StepNode> nodes_;
  std::span<const NodeCost> costs_;
  const EagerOptions& options_;
  std::vector<SavedByOp> saved_;
  std::vector<TensorId> storage_;
  std::vector<State> state_;
  std::vector<OpState> ops_;
  std::vector<int> references_;  ///< of each array
  AllocationTrace trace_;
  std::int32_t node_ = 0;
  bool flattened_ = false;
};

}  // namespace

AllocationTrace eager_trace(const OpGraph& graph, std::span<const StepNode> nodes, std::span<const NodeCost> costs,
                            const EagerOptions& options) {
  return Tracer(graph, nodes, costs, options).run();
}

}  // namespace tbdsim
