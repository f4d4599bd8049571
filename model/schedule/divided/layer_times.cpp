// Long because the items of a layer are one list in order of issue: what an axis, an overlap or recomputation adds depends on
// those before.
#include "model/schedule/divided/layer_times.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "model/cost/eight_bit_products.hpp"
#include "model/cost/issue.hpp"
#include "model/workload/expert_arrays.hpp"
#include "model/workload/training_step.hpp"

namespace tbdsim {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// A call into the collective library costs the host about what a product does, over an elementwise operator (assumed).
constexpr double kCallOperators = 2.5;

/// A copy reads and writes.
constexpr double kCopyPasses = 2.0;

bool is_backward(Pass pass) { return info(pass).input_gradients || info(pass).parameter_gradients; }

bool is_norm(const Op& op) { return op.kind == OpKind::rms_norm || op.kind == OpKind::layer_norm; }

const CollectiveAttributes* collective(const Op& op) { return std::get_if<CollectiveAttributes>(&op.attributes); }

/// The items of one class, in the order of issue.
class LayerItems {
 public:
  LayerItems(const OpGraph& graph, const LayerSetting& setting, GroupPlans& plans, LayerCost& cost)
      : graph_(graph),
        setting_(setting),
        plans_(plans),
        cost_(cost),
        gathered_(graph.ops.size(), false),
        widths_(setting.kernels.widths(graph)) {}

  /// What the host does for a micro-batch before the first layer.
  void read_batch() {
    items_.push_back({PassItem::Kind::kernel, Seconds(0.0), dispatch(parallel().batch_operators), Axis::tensor, {}, {}, false});
  }

  void forward(std::span<const StepNode> nodes) {
    for (const StepNode& node : nodes) run_forward(node, false);
  }

  /// `again`: operators that are computed again first.
  void backward(std::span<const StepNode> nodes, std::span<const StepNode> again) {
    for (const StepNode& node : again) run_forward(node, true);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      // Autograd computes the gradient of the input first, then that of the weights.
      const bool swapped = i + 1 < nodes.size() && nodes[i].pass == Pass::backward_weights &&
                           nodes[i + 1].pass == Pass::backward_data && nodes[i].op == nodes[i + 1].op;
      if (swapped) {
        run_backward(nodes[i + 1]);
        run_backward(nodes[i]);
        ++i;
      } else {
        run_backward(nodes[i]);
      }
    }
    flush();
  }

  std::vector<PassItem> take() {
    uncut_ = 0;
    made_by_ = Seconds(0.0);
    return std::exchange(items_, {});
  }

 private:
  [[nodiscard]] Bytes message(const Op& op, CollectiveKind kind) const {
    const auto count = std::max(elements(graph_.input_shape(op)), elements(graph_.output_shape(op)));
    return setting_.batch * static_cast<double>(count) * element(op, kind);
  }
  /// Of what is gathered for products, as they read it; sums are of 16 bits.
  [[nodiscard]] Bytes element(const Op& op, CollectiveKind kind) const {
    const CollectiveAttributes& moved = *collective(op);
    if (moved.axis != Axis::tensor || kind != CollectiveKind::all_gather) return setting_.element;
    const auto narrow = [&](OpId id) { return runs_in_8_bits(graph_, graph_.op(id), setting_.batch); };
    if (moved.forward != CollectiveKind::all_gather)
      return narrow(graph_.tensor(op.inputs.front()).producer) ? setting_.gathers.gradient : setting_.element;
    const auto& readers = graph_.tensor(op.output).consumers;
    return !readers.empty() && std::all_of(readers.begin(), readers.end(), narrow) ? setting_.gathers.input : setting_.element;
  }

  [[nodiscard]] const ParallelSettings& parallel() const { return setting_.stack.parallel; }
  [[nodiscard]] bool rings() const { return parallel().context == ContextExchange::ring; }

  PassItem call(const Op& op, CollectiveKind kind, PassItem::Kind how) {
    const Axis axis = collective(op)->axis;
    const bool once = axis == Axis::expert && parallel().experts.dispatch == ExpertDispatch::once_per_node;
    const GroupCall made =
        once ? plans_.once_per_node(message(op, kind), collective(op)->choice) : plans_.call(axis, kind, message(op, kind));
    return {how, made.time, dispatch(kCallOperators), axis, made.sent, made.taken, false, made.time};
  }

  /// A call on which the next kernel waits, and where its framework keeps positions behind samples, the kernel that puts them
  /// into order: of what was gathered after it, of what is divided before.
  void push_call(const Op& op, CollectiveKind kind, PassItem::Kind how) {
    const bool pieces = in_pieces(op, kind);
    const bool copies =
        collective(op)->axis == Axis::tensor && kind != CollectiveKind::all_reduce && parallel().tensor.copies && !pieces;
    const Seconds time =
        copies ? setting_.slowdown * setting_.kernels.memory_kernel(kCopyPasses * message(op, kind)) : Seconds(0.0);
    if (copies) items_.push_back({PassItem::Kind::kernel, time, dispatch(1.0), Axis::tensor, {}, {}, true});
    items_.push_back(call(op, kind, how));
    if (pieces) cut(kind);
    made_by_ = Seconds(0.0);
    if (copies && kind == CollectiveKind::all_gather) std::iter_swap(items_.end() - 1, items_.end() - 2);
  }

  [[nodiscard]] Seconds dispatch(double operators) const {
    return setting_.slowdown * setting_.host_scale * operators * setting_.stack.host.dispatch;
  }

  /// Prices a node; `again`: what a layer computes a second time.
  PassItem kernel(const StepNode& node, bool again) {
    NodeCost cost = setting_.kernels.cost(graph_, node, setting_.batch, widths_);
    const Op& op = graph_.op(node.op);
    if (is_loss(op.kind)) compose_loss(op, node.pass, cost);
    if (is_norm(op)) widen_norm(op, node.pass, cost);
    if (op.kind == OpKind::grouped_linear) cost.kernel.time *= imbalance(op);
    cost.kernel.time *= setting_.slowdown;
    const bool memory = cost.kernel.bound == Bound::memory;
    const PassItem item{PassItem::Kind::kernel, cost.kernel.time, dispatch(cost.host_operators), Axis::tensor, {}, {}, memory};
    (again ? cost_.again_flop : cost_.flop) += cost.kernel.flop;
    if (again) cost_.again += cost.kernel.time;
    if (node.pass == Pass::backward_weights) cost_.weights += cost.kernel.time;
    cost_.operators.push_back({node.op, node.pass, cost.kernel.time, cost.kernel.flop, cost.tensor_core, again, {}});
    if (cost.kernel.time > Seconds(0.0)) cost_.operators.back().cost = cost_.costs.size();
    if (cost.kernel.time > Seconds(0.0)) cost_.costs.push_back(cost);
    return item;
  }

  /// A loss that the framework composes of kernels, each of which reads and writes all scores.
  void compose_loss(const Op& op, Pass pass, NodeCost& cost) const {
    const Bytes moved = pass == Pass::forward ? parallel().loss.forward : parallel().loss.backward;
    if (moved <= Bytes(0.0)) return;
    const double scores = setting_.batch * static_cast<double>(elements(graph_.input_shape(op)));
    cost.kernel.time = setting_.kernels.memory_kernel(scores * moved);
    cost.kernel.bytes = scores * moved;
    cost.kernel.bound = Bound::memory;
    cost.host_operators = 0.5 * parallel().loss.operators;
  }

  /// A norm that the framework runs in fp32 between casts.
  void widen_norm(const Op& op, Pass pass, NodeCost& cost) const {
    const Bytes moved = pass == Pass::forward ? parallel().norms.forward : parallel().norms.backward;
    if (moved <= Bytes(0.0) || (is_backward(pass) && !info(pass).input_gradients)) return;
    const Bytes all = setting_.batch * static_cast<double>(elements(graph_.input_shape(op))) * moved;
    cost.kernel.time += setting_.kernels.memory_kernel(all);
    cost.kernel.bytes += all;
    cost.host_operators += 1.0;
  }

  /// How many times as many rows as the mean the fullest rank's experts get: the largest of e sums of `rows` choices, or what
  /// their capacity leaves of it.
  [[nodiscard]] double imbalance(const Op& op) const {
    const ExpertAxisSettings& experts = parallel().experts;
    const double rows = setting_.batch * static_cast<double>(graph_.input_shape(op).front());
    const double fullest = setting_.expert_ranks <= 1
                               ? 1.0
                               : 1.0 + experts.spread * std::sqrt(2.0 * std::log(setting_.expert_ranks) / std::max(1.0, rows));
    return experts.capacity > 0.0 ? std::min(fullest, experts.capacity) : fullest;
  }

  void run_forward(const StepNode& node, bool again) {
    const Op& op = graph_.op(node.op);
    if (const CollectiveAttributes* moved = collective(op)) {
      if (!moved->forward) return;
      const bool ring = moved->axis == Axis::context && rings();
      push_call(op, *moved->forward, ring ? PassItem::Kind::hidden : PassItem::Kind::collective);
      joins_ = joins_ || ring;
      return;
    }
    items_.push_back(kernel(node, again));
    fit_pieces(node);
    join();
  }

  /// Whether a call moves pieces beside a product. The gradient of what several products read is a sum of their results.
  [[nodiscard]] bool in_pieces(const Op& op, CollectiveKind kind) const {
    const CollectiveAttributes& moved = *collective(op);
    if (!parallel().tensor.pieces() || moved.axis != Axis::tensor) return false;
    const auto product = [&](OpId id) { return info(graph_.op(id).kind).family == OpFamily::gemm; };
    const bool forward = moved.forward == kind;
    const auto& readers = graph_.tensor(op.output).consumers;
    if (kind == CollectiveKind::all_gather)
      return forward ? std::any_of(readers.begin(), readers.end(), product) : product(graph_.tensor(op.inputs.front()).producer);
    const bool several = !forward && readers.size() > 1 && parallel().tensor.overlap == TensorOverlap::one_product;
    return kind == CollectiveKind::reduce_scatter && made_by_ > Seconds(0.0) && !several;
  }
  /// The last item is a call that moves pieces; what it divides a product has just made, what it gathers the next one reads. Of a
  /// gathered input a rank has its own piece. What it divides it adds up itself once all pieces are there.
  void cut(CollectiveKind kind) {
    if (kind == CollectiveKind::all_gather) {
      uncut_ = items_.size();
      return;
    }
    PassItem& call = items_.back();
    const double share = 1.0 / setting_.tensor_ranks;
    const Bytes pieces = (1.0 / sent_share(kind, setting_.tensor_ranks)) * call.bytes;
    call.device = std::max(share * call.device, call.device - made_by_) + made_in_pieces_ +
                  setting_.slowdown * setting_.kernels.memory_kernel((1.0 + share) * pieces);
  }
  /// The last item is a kernel.
  void fit_pieces(const StepNode& node) {
    made_by_ = made_in_pieces_ = Seconds(0.0);
    if (!parallel().tensor.pieces() || info(graph_.op(node.op).kind).family != OpFamily::gemm) return;
    const double ranks = setting_.tensor_ranks;
    made_by_ = items_.back().device;
    const Seconds piece = setting_.slowdown * setting_.kernels.cost(graph_, node, setting_.batch / ranks, widths_).kernel.time;
    made_in_pieces_ = std::max(Seconds(0.0), ranks * piece - made_by_);
    if (uncut_ == 0) return;
    Seconds& call = items_[uncut_ - 1].device;
    call = std::max(Seconds(0.0), call - (1.0 - 1.0 / ranks) * made_by_) + made_in_pieces_;
    uncut_ = 0;
  }

  /// A ring's hops run beside attention and are waited for after it.
  void join() {
    if (!joins_) return;
    items_.push_back({PassItem::Kind::join, Seconds(0.0), Seconds(0.0), Axis::context, {}, {}, false});
    joins_ = false;
  }

  void run_backward(const StepNode& node) {
    const Op& op = graph_.op(node.op);
    const bool beside = parallel().tensor.overlap == TensorOverlap::weights;
    if (const CollectiveAttributes* moved = collective(op)) {
      if (!moved->backward || !is_backward(node.pass)) return;
      if (moved->axis == Axis::context && rings()) return;
      if (moved->axis != Axis::tensor || !beside || deferred_.empty()) {
        push_call(op, *moved->backward, PassItem::Kind::collective);
        return;
      }
      items_.push_back({PassItem::Kind::join, Seconds(0.0), Seconds(0.0), Axis::tensor, {}, {}, false});
      push_call(op, *moved->backward, PassItem::Kind::hidden);
      flush();
      return;
    }
    const Op& before = graph_.op(graph_.tensor(op.inputs.front()).producer);
    const CollectiveAttributes* source = collective(before);
    const bool gathers = source != nullptr && source->axis == Axis::tensor && source->backward.has_value();
    if (gathers && source->again && !gathered_[at(graph_.tensor(op.inputs.front()).producer.value)]) {
      gathered_[at(graph_.tensor(op.inputs.front()).producer.value)] = true;
      push_call(before, *source->forward, beside ? PassItem::Kind::hidden : PassItem::Kind::collective);
    }
    pass_round(op);
    PassItem item = kernel(node, false);
    const bool sums = info(node.pass).parameter_gradients;
    const bool fused = sums && parallel().gradients.fuses_sum && info(op.kind).family == OpFamily::gemm && !op.parameters.empty();
    if (fused) add_beside(item, sum_time(op.parameters.front()));
    const bool defers = gathers && beside && node.pass == Pass::backward_weights;
    (defers ? deferred_ : items_).push_back(item);
    if (!defers) fit_pieces(node);
    join();
    if (sums) add_sum(op, defers, fused ? 1 : 0);
  }

  /// Keys and values travel once more for attention's backward, which their gradients go with in a ring.
  void pass_round(const Op& op) {
    for (const TensorId input : op.inputs) {
      const OpId producer = graph_.tensor(input).producer;
      const CollectiveAttributes* moved = collective(graph_.op(producer));
      if (moved == nullptr || moved->axis != Axis::context || !moved->again || gathered_[at(producer.value)]) continue;
      gathered_[at(producer.value)] = true;
      items_.push_back(call(graph_.op(producer), *moved->forward, rings() ? PassItem::Kind::hidden : PassItem::Kind::collective));
      if (rings()) items_.push_back(call(graph_.op(producer), *moved->backward, PassItem::Kind::hidden));
      joins_ = rings();
    }
  }

  /// Moved for each parameter of an operator.
  [[nodiscard]] Bytes sum_bytes(OpId op) const {
    return is_of_experts(graph_.op(op)) ? setting_.sum.experts : setting_.sum.dense;
  }

  [[nodiscard]] Seconds sum_time(ParameterId id) const {
    const auto count = static_cast<double>(elements(graph_.parameter(id).shape));
    return setting_.sum.share * setting_.slowdown * setting_.kernels.memory_kernel(count * sum_bytes(graph_.parameter(id).op));
  }

  /// Traffic beside a product's arithmetic: between the longer of both and their sum, as within a product (model/cost/README.md).
  void add_beside(PassItem& product, Seconds traffic) {
    const double a = product.device.base(), b = traffic.base();
    const Seconds more = Seconds(std::cbrt(a * a * a + b * b * b)) - product.device;
    product.device += more;
    cost_.weights += more;
  }

  /// The gradients of a micro-batch join the sum, but for the first arrays, which have.
  void add_sum(const Op& op, bool defers, std::size_t first) {
    if (setting_.sum.share <= 0.0) return;
    const Seconds issue = setting_.sum.share * dispatch(issued_sum(setting_.stack.host));
    for (std::size_t i = first; i < op.parameters.size(); ++i) {
      const Seconds time = sum_time(op.parameters[i]);
      (defers ? deferred_ : items_).push_back({PassItem::Kind::kernel, time, issue, Axis::tensor, {}, {}, true});
      cost_.weights += time;
    }
  }

  /// Gradients of weights that waited for the sum of their input's gradient to begin.
  void flush() {
    if (deferred_.empty()) return;
    items_.insert(items_.end(), deferred_.begin(), deferred_.end());
    deferred_.clear();
    items_.push_back({PassItem::Kind::join, Seconds(0.0), Seconds(0.0), Axis::tensor, {}, {}, false});
  }

  const OpGraph& graph_;
  const LayerSetting& setting_;
  GroupPlans& plans_;
  LayerCost& cost_;
  std::vector<bool> gathered_;  ///< of each operator: gathered again
  std::vector<Bytes> widths_;   ///< of tensors, under autocast
  std::vector<PassItem> items_, deferred_;
  bool joins_ = false;
  std::size_t uncut_ = 0;   ///< place after a gathering call that no product has read yet; 0: none
  Seconds made_by_;         ///< time of the product just issued
  Seconds made_in_pieces_;  ///< how much longer it takes in pieces
};

/// What a layer computes again before its backward pass. The head keeps what it made: its backward comes next.
std::vector<StepNode> computed_again(std::span<const StepNode> forward, const std::vector<bool>& selected, bool keeps) {
  std::vector<StepNode> again;
  if (keeps) return again;
  std::copy_if(forward.begin(), forward.end(), std::back_inserter(again),
               [&](const StepNode& node) { return selected[at(node.op.value)]; });
  return again;
}

/// Behind the last operator of a layer.
std::size_t end_of(const OpGraph& graph, const LayerClasses& layers, int layer) {
  const auto next = static_cast<std::size_t>(layer) + 1;
  return next < layers.layers() ? at(layers.begins[next].value) : graph.ops.size();
}

}  // namespace

LayerArrays layer_arrays(const OpGraph& graph, const LayerClasses& layers, int layer) {
  LayerArrays arrays;
  for (auto op = at(layers.begins[static_cast<std::size_t>(layer)].value); op < end_of(graph, layers, layer); ++op) {
    (is_of_experts(graph.ops[op]) ? arrays.expert_frozen : arrays.frozen) += frozen_elements(graph.ops[op]);
    for (const ParameterId id : graph.ops[op].parameters) {
      const auto count = static_cast<double>(elements(graph.parameter(id).shape));
      (is_of_experts(graph.ops[op]) ? arrays.expert_parameters : arrays.parameters) += count;
      ++arrays.count;
      if (!is_of_experts(graph.ops[op])) arrays.sizes.add(count);
    }
  }
  return arrays;
}

ClassNodes class_nodes(const OpGraph& graph, const LayerClasses& layers) {
  const TrainingStep step = training_step(graph);
  ClassNodes result{std::vector<std::vector<StepNode>>(layers.classes()), std::vector<std::vector<StepNode>>(layers.classes())};
  const auto sort = [&](const std::vector<StepNode>& nodes, std::vector<std::vector<StepNode>>& into) {
    for (const StepNode& node : nodes) {
      const int layer = layers.layer_of[at(node.op.value)];
      const auto of = static_cast<std::size_t>(layers.class_of[static_cast<std::size_t>(layer)]);
      if (layers.example[of] == layer) into[of].push_back(node);
    }
  };
  sort(step.forward, result.forward);
  sort(step.backward, result.backward);
  return result;
}

std::vector<LayerCost> layer_costs(const OpGraph& graph, const LayerClasses& layers, const LayerSetting& setting,
                                   GroupPlans& plans) {
  return layer_costs(graph, layers, class_nodes(graph, layers), setting, plans);
}

std::vector<LayerCost> layer_costs(const OpGraph& graph, const LayerClasses& layers, const ClassNodes& nodes,
                                   const LayerSetting& setting, GroupPlans& plans) {
  // What a layer computes again before its backward.
  const bool selects = setting.recompute == Recompute::attention || setting.recompute == Recompute::operators;
  const bool norms = setting.stack.parallel.norms.again && (selects || setting.recompute == Recompute::none);
  std::vector<bool> selected(graph.ops.size(), false);
  if (selects)
    selected = selected_again(graph, setting.recompute);
  else if (setting.recompute != Recompute::none)  // in time `block` and `full` are as `layer`
    selected = repeated_of_segments(graph, {Recompute::layer, setting.stack.parallel.recompute_stops});
  if (norms)
    for (std::size_t op = 0; op < graph.ops.size(); ++op) selected[op] = selected[op] || is_norm(graph.ops[op]);
  const bool again = norms || (setting.recompute != Recompute::none && setting.recompute != Recompute::mirror);
  std::vector<LayerCost> costs(layers.classes());
  for (std::size_t i = 0; i < costs.size(); ++i) {
    LayerCost& cost = costs[i];
    const int example = layers.example[i];
    const std::size_t end = end_of(graph, layers, example);
    cost.boundary = setting.batch * static_cast<double>(elements(graph.output_shape(graph.ops[end - 1]))) * setting.element;
    const LayerArrays arrays = layer_arrays(graph, layers, example);
    cost.parameters = arrays.parameters;
    cost.expert_parameters = arrays.expert_parameters;
    cost.frozen = arrays.frozen;
    cost.expert_frozen = arrays.expert_frozen;
    cost.arrays = arrays.count;
    cost.sizes = arrays.sizes;
    LayerItems items(graph, setting, plans, cost);
    if (example == 0) items.read_batch();
    items.forward(nodes.forward[i]);
    cost.forward = pass_time(items.take());
    const bool head = is_loss(graph.ops[end - 1].kind);
    items.backward(nodes.backward[i], computed_again(nodes.forward[i], selected, !again || head));
    cost.backward = pass_time(items.take());
  }
  return costs;
}

}  // namespace tbdsim
