// Long because one walk over a step makes, shares and drops every array.
#include "model/memory/eager_trace.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "model/cost/autocast.hpp"
#include "model/workload/expert_arrays.hpp"

namespace tbdsim {
namespace {

constexpr std::int32_t kNone = -1;

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
std::size_t index(OpId id) { return index(id.value); }
std::size_t index(TensorId id) { return index(id.value); }

bool passes_gradient_on(const Op& op, SavingRules rules) {
  const GradientRule gradient = info(op.kind).gradient;
  return gradient == GradientRule::passed || (gradient == GradientRule::parts && rules != SavingRules::tensorflow);
}

constexpr Bytes kSingle{4.0};

class Tracer {
 public:
  Tracer(const OpGraph& graph, std::span<const StepNode> nodes, std::span<const NodeCost> costs, const EagerOptions& options)
      : graph_(graph),
        nodes_(nodes),
        costs_(costs),
        options_(options),
        saved_(saved_by_ops(graph, options.rules, options.element, options.fused_attention)),
        storage_(storage_of(graph, options.rules)) {
    keep_operands();
    state_.resize(graph.tensors.size());
    ops_.resize(graph.ops.size());
    widths_ = options.autocast ? autocast_widths(graph, options.element, {false, options.narrow_norms})
                               : std::vector<Bytes>(graph.tensors.size(), options.element);
    trace_.arrays.reserve(4 * nodes.size());
    trace_.events.reserve(8 * nodes.size());
  }

  /// Products in 8 bits may keep these operands in the place of their input.
  void keep_operands() {
    for (std::size_t i = 0; i < costs_.size(); ++i) {
      if (nodes_[i].pass != Pass::forward || costs_[i].kept_operands == Bytes(0.0)) continue;
      SavedByOp& saved = saved_[index(nodes_[i].op)];
      std::erase(saved.tensors, graph_.op(nodes_[i].op).inputs.front());
      saved.extra_fixed = costs_[i].kept_operands;
    }
  }

  AllocationTrace run() {
    plan_passes();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      node_ = static_cast<std::int32_t>(i);
      if (nodes_[i].pass != Pass::forward) end_forward();
      if (nodes_[i].pass == Pass::update || (nodes_[i].pass == Pass::forward && i > 0 && is_backward(nodes_[i - 1].pass)))
        end_segment();
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
    int deferred_readers = 0;  ///< of them, those computed once whose backward reads the array of the second pass
    std::int32_t gradient = kNone;
  };
  struct OpState {
    std::int32_t gathered = kNone;   ///< outputs of all GPUs, of a loss that reads them again
    std::int32_t extra = kNone;      ///< masks, indices, statistics
    std::int32_t second = kNone;     ///< node of the second pass; none: computed once
    std::int32_t backward = kNone;   ///< first backward node
    bool computed = false;           ///< the first pass is over
    std::int32_t weights = kNone;    ///< 16-bit copies of parameters
    std::vector<std::int32_t> cast;  ///< copies of inputs that are held
    int backward_nodes = 0;          ///< still to come
    bool keeps = false;              ///< its saved tensors are held
  };

  void plan_passes() {
    std::vector<bool> seen(graph_.ops.size(), false);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const StepNode& node = nodes_[i];
      if (is_backward(node.pass)) {
        if (ops_[index(node.op)].backward_nodes++ == 0) ops_[index(node.op)].backward = static_cast<std::int32_t>(i);
      }
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

  static bool is_backward(Pass pass) { return info(pass).input_gradients || info(pass).parameter_gradients; }

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

  /// Width of the copy that an operator makes of what it reads, where that has another.
  [[nodiscard]] std::optional<Bytes> cast_width(const Op& op, TensorId input) const {
    if (!options_.autocast || converts_as_it_reads(op)) return std::nullopt;
    const AutocastRule rule = autocast_rule(graph_, op, {false, options_.narrow_norms});
    const Bytes wanted = rule == AutocastRule::narrow ? options_.element
                         : rule == AutocastRule::wide ? kSingle
                                                      : widths_[index(input)];
    return wanted == widths_[index(input)] ? std::nullopt : std::optional(wanted);
  }

  /// Casts parameters for the first product that reads them, and what it reads; the copies of `held` tensors are returned.
  std::vector<std::int32_t> cast_inputs(OpId id, OpState& state) {
    const Op& op = graph_.op(id);
    std::vector<std::int32_t> copies;
    for (const TensorId input : op.inputs)
      if (const auto width = cast_width(op, input))
        copies.push_back(make(times(op) * size(input, *width), MemoryPart::feature_maps, id));
    if (!options_.autocast || info(op.kind).autocast != AutocastRule::narrow || state.weights != kNone) return copies;
    cast_weights(id, state);
    if (options_.gathers_weights) return copies;
    if (state.backward_nodes == 0 || (state.second != kNone && !state.computed)) cached_.push_back(id);
    return copies;
  }
  void cast_weights(OpId id, OpState& state) {
    double count = frozen_elements(graph_.op(id));
    for (const ParameterId parameter : graph_.op(id).parameters)
      count += static_cast<double>(elements(graph_.parameter(parameter).shape));
    state.weights = make(count * options_.element, MemoryPart::weights, id);
  }
  void drop_weights(OpState& state) { drop(std::exchange(state.weights, kNone)); }

  /// The cache of casts is emptied as autocast ends; what backward reads lives on.
  void end_forward() {
    for (const OpId id : cached_) drop_weights(ops_[index(id)]);
    cached_.clear();
  }

  /// What a recomputed segment made for no one to read is held by the call that recomputes it, until its backward is over.
  void end_segment() {
    for (const std::int32_t array : results_) drop(array);
    results_.clear();
  }

  Bytes size(TensorId tensor) const { return size(tensor, widths_[index(tensor)]); }
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
      out.backward_readers += std::exchange(out.deferred_readers, 0);
    }
    const std::vector<std::int32_t> copies = cast_inputs(id, state);
    const bool widens = options_.loss_element && is_loss(op.kind) && !options_.autocast;
    const std::int32_t wide =
        widens ? make(times(op) * size(op.inputs.front(), *options_.loss_element), MemoryPart::dynamic, id) : kNone;
    if (storage_[index(op.output)] == op.output)
      out.array = make(times(op) * size(op.output, widens ? *options_.loss_element : widths_[index(op.output)]),
                       MemoryPart::feature_maps, id);
    if (state.computed || state.second == kNone) keep(id, state, copies);
    if (state.computed && out.forward_readers == 0 && out.backward_readers == 0 && storage_[index(op.output)] == op.output)
      results_.push_back(std::exchange(out.array, kNone));
    state.computed = true;
    for (const TensorId input : op.inputs) {
      State& s = owner(input);
      --s.forward_readers;
      release_unread(s);
    }
    drop(wide);
    for (const std::int32_t copy : copies) drop(copy);
    if (options_.gathers_weights) drop_weights(state);
    const std::vector<TensorId>& held = saved_[index(id)].tensors;
    const bool reads_again = gathered != kNone && std::find(held.begin(), held.end(), op.inputs.front()) != held.end();
    if (reads_again)
      state.gathered = gathered;
    else
      drop(gathered);
  }

  /// Holds what backward of this operator reads.
  void keep(OpId id, OpState& state, std::span<const std::int32_t> copies) {
    if (state.backward_nodes == 0) return;
    const Op& op = graph_.op(id);
    const SavedByOp& saved = saved_[index(id)];
    state.keeps = true;
    for (const TensorId tensor : saved.tensors)
      if (!keeps_copy(op, tensor))
        ++(reads_second(state, tensor) ? owner(tensor).deferred_readers : owner(tensor).backward_readers);
    std::size_t copy = 0;
    for (const TensorId input : op.inputs) {
      if (!cast_width(op, input)) continue;
      const bool held = std::find(saved.tensors.begin(), saved.tensors.end(), input) != saved.tensors.end();
      if (held && copies[copy] != kNone) {
        share(copies[copy]);
        state.cast.push_back(copies[copy]);
      }
      ++copy;
    }
    Bytes extra = saved.extra_per_sample;
    // Softmax between the products of an unfused attention runs in fp32, and what it makes is cast for the second product.
    if (options_.autocast && info(op.kind).family == OpFamily::attention && !options_.fused_attention)
      extra *= (kSingle + options_.element) / options_.element;
    state.extra = make(times(op) * options_.batch * extra + saved.extra_fixed, MemoryPart::feature_maps, id);
  }
  /// Whether an operator that is computed once finds a saved tensor computed again when its backward begins.
  [[nodiscard]] bool reads_second(const OpState& state, TensorId saved) const {
    const std::int32_t made = ops_[index(graph_.tensor(storage_[index(saved)]).producer)].second;
    return state.second == kNone && made != kNone && made < state.backward;
  }
  /// Whether an operator keeps its own copy of one of its saved tensors.
  [[nodiscard]] bool keeps_copy(const Op& op, TensorId saved) const {
    return saved != op.output && cast_width(op, saved).has_value();
  }

  void backward(const StepNode& node) {
    const Op& op = graph_.op(node.op);
    OpState& state = ops_[index(node.op)];
    if (options_.gathers_weights && options_.autocast && info(op.kind).autocast == AutocastRule::narrow && state.weights == kNone)
      cast_weights(node.op, state);
    if (node.pass != Pass::backward_data) parameter_gradients(op);
    if (node.pass != Pass::backward_weights) input_gradients(node.op);
    if (--state.backward_nodes > 0) return;
    State& out = state_[index(op.output)];
    drop(out.gradient);
    out.gradient = kNone;
    drop(state.gathered);
    state.gathered = kNone;
    drop_weights(state);
    if (!state.keeps) return;
    for (const std::int32_t copy : state.cast) drop(copy);
    state.cast.clear();
    for (const TensorId tensor : saved_[index(node.op)].tensors) {
      if (keeps_copy(op, tensor)) continue;
      State& s = owner(tensor);
      --s.backward_readers;
      release_unread(s);
    }
    drop(state.extra);
    state.extra = kNone;
  }

  void update(const StepNode& node) {
    if (options_.flattens_updates && !flattened_) {
      Bytes all(0.0);
      for (const Parameter& parameter : graph_.parameters) all += made_by_update(parameter);
      make(all, MemoryPart::dynamic, node.op);
      flattened_ = true;
    }
    const Parameter& parameter = graph_.parameter(node.parameter);
    const std::int32_t made = make(made_by_update(parameter), MemoryPart::dynamic, parameter.op);
    // What is not dropped goes with the step.
    if (!options_.updates_together) drop(made);
  }

  [[nodiscard]] Bytes made_by_update(const Parameter& parameter) const {
    const double arrays = is_of_experts(graph_, parameter) ? options_.expert_update_arrays : options_.update_arrays;
    return gradient_elements(parameter, options_.batch) * arrays * options_.update_element;
  }

  void parameter_gradients(const Op& op) {
    const Bytes element = is_of_experts(op) ? options_.expert_gradient_element : options_.gradient_element;
    for (const ParameterId id : op.parameters) {
      const Bytes bytes = gradient_bytes(graph_.parameter(id), options_.batch, element);
      const std::int32_t fresh =
          make(bytes, options_.keeps_gradients ? MemoryPart::dynamic : MemoryPart::gradients, graph_.parameter(id).op);
      if (options_.keeps_gradients) drop(fresh);
    }
  }

  void input_gradients(OpId id) {
    const Op& op = graph_.op(id);
    const std::int32_t incoming = state_[index(op.output)].gradient, gathered = gather(id);
    const bool passes_on = incoming != kNone && passes_gradient_on(op, options_.rules);
    std::int32_t scores = make(score_gradients(op), MemoryPart::dynamic, id);
    for (const TensorId input : op.inputs) {
      if (!graph_.tensor(input).needs_gradient) continue;
      State& s = state_[index(input)];
      if (passes_on && s.gradient == kNone && widths_[index(input)] == widths_[index(op.output)]) {
        share(incoming);
        s.gradient = incoming;
        continue;
      }
      // Two tensors may share one gradient (an addition's): adding to it needs an array of its own.
      // As wide as the operator runs, before it is as wide as the tensor.
      const auto width = gradient_width(op, input);
      const std::int32_t uncast = width ? make(times(op) * size(input, *width), MemoryPart::dynamic, id) : kNone;
      if (width) drop(std::exchange(scores, kNone));
      const std::int32_t fresh = make(size(input), MemoryPart::dynamic, graph_.tensor(input).producer);
      drop(uncast);
      if (s.gradient == kNone) {
        s.gradient = fresh;
      } else if (references_[index(s.gradient)] > 1) {
        drop(s.gradient);
        s.gradient = fresh;
      } else {
        drop(fresh);
      }
    }
    drop(scores);
    drop(gathered);
  }

  /// Width in which a loss computes.
  [[nodiscard]] Bytes loss_width() const {
    return options_.autocast ? kSingle : options_.loss_element.value_or(options_.element);
  }
  /// Of the gradient that an operator makes, where its input's is another.
  [[nodiscard]] std::optional<Bytes> gradient_width(const Op& op, TensorId input) const {
    if (options_.loss_element && !options_.autocast && is_loss(op.kind) && loss_width() != widths_[index(input)])
      return loss_width();
    return cast_width(op, input);
  }
  /// PyTorch's cross-entropy is two operators: nll_loss fills an array of all scores' gradients, which log_softmax reads.
  /// Source: aten/src/ATen/native/cuda/NLLLoss2d.cu and SoftMax.cu.
  [[nodiscard]] Bytes score_gradients(const Op& op) const {
    const bool two = op.kind == OpKind::softmax_loss && options_.rules == SavingRules::autograd_cuda;
    return two ? options_.loss_arrays * times(op) * size(op.inputs.front(), loss_width()) : Bytes(0.0);
  }

  const OpGraph& graph_;
  std::span<const StepNode> nodes_;
  std::span<const NodeCost> costs_;
  const EagerOptions& options_;
  std::vector<SavedByOp> saved_;
  std::vector<TensorId> storage_;
  std::vector<State> state_;
  std::vector<OpState> ops_;
  std::vector<Bytes> widths_;          ///< of an element of each tensor
  std::vector<std::int32_t> results_;  ///< of the segment that is recomputed: outputs that no one reads again
  std::vector<OpId> cached_;           ///< operators whose copies of parameters no backward pass reads as they are
  std::vector<int> references_;        ///< of each array
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
