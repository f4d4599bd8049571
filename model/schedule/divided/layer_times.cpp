#include "model/schedule/divided/layer_times.hpp"

#include <algorithm>
#include <iterator>

#include "model/cost/issue.hpp"
#include "model/workload/training_step.hpp"

namespace tbdsim {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// A call into the collective library costs the host about what a product does, over an elementwise operator (assumed).
constexpr double kCallOperators = 2.5;

bool is_backward(Pass pass) { return info(pass).input_gradients || info(pass).parameter_gradients; }

const CollectiveAttributes* collective(const Op& op) { return std::get_if<CollectiveAttributes>(&op.attributes); }

/// The items of one class, in the order of issue.
class LayerItems {
 public:
  LayerItems(const OpGraph& graph, const LayerSetting& setting, GroupPlans& plans, LayerCost& cost)
      : graph_(graph), setting_(setting), plans_(plans), cost_(cost), gathered_(graph.ops.size(), false) {}

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

  std::vector<PassItem> take() { return std::exchange(items_, {}); }

 private:
  [[nodiscard]] Bytes message(const Op& op) const {
    const auto count = std::max(elements(graph_.input_shape(op)), elements(graph_.output_shape(op)));
    return setting_.batch * static_cast<double>(count) * setting_.element;
  }

  [[nodiscard]] bool rings() const { return setting_.stack.parallel.context == ContextExchange::ring; }

  PassItem call(const Op& op, CollectiveKind kind, PassItem::Kind how) {
    const Axis axis = collective(op)->axis;
    const GroupCall made = plans_.call(axis, kind, message(op));
    return {how, made.time, dispatch(kCallOperators), axis, made.sent, made.busy_sms};
  }

  [[nodiscard]] Seconds dispatch(double operators) const {
    return setting_.slowdown * setting_.host_scale * operators * setting_.stack.host.dispatch;
  }

  /// Prices a node; `again`: what a layer computes a second time.
  PassItem kernel(const StepNode& node, bool again) {
    NodeCost cost = setting_.kernels.cost(graph_, node, setting_.batch);
    cost.kernel.time *= setting_.slowdown;
    const PassItem item{PassItem::Kind::kernel, cost.kernel.time, dispatch(cost.host_operators), Axis::tensor, {}, 0};
    (again ? cost_.again_flop : cost_.flop) += cost.kernel.flop;
    if (again) cost_.again += cost.kernel.time;
    if (node.pass == Pass::backward_weights) cost_.weights += cost.kernel.time;
    cost_.operators.push_back({node.op, node.pass, cost.kernel.time, cost.kernel.flop, cost.tensor_core, again, {}});
    if (cost.kernel.time > Seconds(0.0)) cost_.operators.back().cost = cost_.costs.size();
    if (cost.kernel.time > Seconds(0.0)) cost_.costs.push_back(std::move(cost));
    return item;
  }

  void run_forward(const StepNode& node, bool again) {
    const Op& op = graph_.op(node.op);
    if (const CollectiveAttributes* moved = collective(op)) {
      if (!moved->forward) return;
      const bool ring = moved->axis == Axis::context && rings();
      items_.push_back(call(op, *moved->forward, ring ? PassItem::Kind::hidden : PassItem::Kind::collective));
      joins_ = joins_ || ring;
      return;
    }
    items_.push_back(kernel(node, again));
    join();
  }

  /// A ring's hops run beside attention and are waited for after it.
  void join() {
    if (!joins_) return;
    items_.push_back({PassItem::Kind::join, Seconds(0.0), Seconds(0.0), Axis::context, {}, 0});
    joins_ = false;
  }

  void run_backward(const StepNode& node) {
    const Op& op = graph_.op(node.op);
    const bool beside = setting_.stack.parallel.tensor_overlap == TensorOverlap::weights;
    if (const CollectiveAttributes* moved = collective(op)) {
      if (!moved->backward || !is_backward(node.pass)) return;
      if (moved->axis == Axis::context && rings()) return;
      if (moved->axis != Axis::tensor || !beside || deferred_.empty()) {
        items_.push_back(call(op, *moved->backward, PassItem::Kind::collective));
        return;
      }
      items_.push_back({PassItem::Kind::join, Seconds(0.0), Seconds(0.0), Axis::tensor, {}, 0});
      items_.push_back(call(op, *moved->backward, PassItem::Kind::hidden));
      flush();
      return;
    }
    const Op& before = graph_.op(graph_.tensor(op.inputs.front()).producer);
    const CollectiveAttributes* source = collective(before);
    const bool gathers = source != nullptr && source->axis == Axis::tensor && source->backward.has_value();
    if (gathers && source->again && !gathered_[at(graph_.tensor(op.inputs.front()).producer.value)]) {
      gathered_[at(graph_.tensor(op.inputs.front()).producer.value)] = true;
      items_.push_back(call(before, *source->forward, beside ? PassItem::Kind::hidden : PassItem::Kind::collective));
    }
    pass_round(op);
    const PassItem item = kernel(node, false);
    const bool defers = gathers && beside && node.pass == Pass::backward_weights;
    (defers ? deferred_ : items_).push_back(item);
    join();
    if (info(node.pass).parameter_gradients) add_sum(op, defers);
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

  /// The gradient of a micro-batch joins the sum.
  void add_sum(const Op& op, bool defers) {
    const Bytes moved = setting_.stack.parallel.gradient_sum;
    if (moved <= Bytes(0.0)) return;
    for (const ParameterId id : op.parameters) {
      const Seconds time =
          setting_.slowdown * setting_.kernels.memory_kernel(static_cast<double>(elements(graph_.parameter(id).shape)) * moved);
      (defers ? deferred_ : items_)
          .push_back({PassItem::Kind::kernel, time, dispatch(issued_sum(setting_.stack.host)), Axis::tensor, {}, 0});
      cost_.weights += time;
    }
  }

  /// Gradients of weights that waited for the sum of their input's gradient to begin.
  void flush() {
    if (deferred_.empty()) return;
    items_.insert(items_.end(), deferred_.begin(), deferred_.end());
    deferred_.clear();
    items_.push_back({PassItem::Kind::join, Seconds(0.0), Seconds(0.0), Axis::tensor, {}, 0});
  }

  const OpGraph& graph_;
  const LayerSetting& setting_;
  GroupPlans& plans_;
  LayerCost& cost_;
  std::vector<bool> gathered_;  ///< of each operator: gathered again
  std::vector<PassItem> items_, deferred_;
  bool joins_ = false;
};

/// What a layer computes again before its backward pass. The head keeps what it made: its backward comes next.
std::vector<StepNode> computed_again(std::span<const StepNode> forward, Recompute recompute, const std::vector<bool>& selected,
                                     bool head) {
  std::vector<StepNode> again;
  if (recompute == Recompute::none || recompute == Recompute::mirror || head) return again;
  std::copy_if(forward.begin(), forward.end(), std::back_inserter(again),
               [&](const StepNode& node) { return selected[at(node.op.value)]; });
  return again;
}

}  // namespace

std::vector<LayerCost> layer_costs(const OpGraph& graph, const LayerClasses& layers, const LayerSetting& setting,
                                   GroupPlans& plans) {
  const TrainingStep step = training_step(graph);
  const bool selects = setting.recompute == Recompute::attention || setting.recompute == Recompute::operators;
  const std::vector<bool> selected =
      selects ? selected_again(graph, setting.recompute) : std::vector<bool>(graph.ops.size(), true);
  std::vector<std::vector<StepNode>> forward(layers.classes()), backward(layers.classes());
  const auto sort = [&](const std::vector<StepNode>& nodes, std::vector<std::vector<StepNode>>& into) {
    for (const StepNode& node : nodes) {
      const int layer = layers.layer_of[at(node.op.value)];
      const auto of = static_cast<std::size_t>(layers.class_of[static_cast<std::size_t>(layer)]);
      if (layers.example[of] == layer) into[of].push_back(node);
    }
  };
  sort(step.forward, forward);
  sort(step.backward, backward);
  std::vector<LayerCost> costs(layers.classes());
  for (std::size_t i = 0; i < costs.size(); ++i) {
    LayerCost& cost = costs[i];
    const int example = layers.example[i];
    const auto end = static_cast<std::size_t>(example) + 1 < layers.layers()
                         ? at(layers.begins[static_cast<std::size_t>(example) + 1].value)
                         : graph.ops.size();
    cost.boundary = setting.batch * static_cast<double>(elements(graph.output_shape(graph.ops[end - 1]))) * setting.element;
    for (auto op = at(layers.begins[static_cast<std::size_t>(example)].value); op < end; ++op)
      for (const ParameterId id : graph.ops[op].parameters) {
        const auto count = static_cast<double>(elements(graph.parameter(id).shape));
        (graph.ops[op].kind == OpKind::grouped_linear ? cost.expert_parameters : cost.parameters) += count;
        ++cost.arrays;
      }
    LayerItems items(graph, setting, plans, cost);
    items.forward(forward[i]);
    cost.forward = pass_time(items.take());
    const bool head = is_loss(graph.ops[end - 1].kind);
    items.backward(backward[i], computed_again(forward[i], setting.recompute, selected, head));
    cost.backward = pass_time(items.take());
  }
  return costs;
}

}  // namespace tbdsim
