#include "model/schedule/lower.hpp"

#include <array>
#include <optional>

namespace tbdsim {
namespace {

using engine::TaskId;

class Lowering {
 public:
  Lowering(const OpGraph& graph, const Stack& stack, const CollectivePlan& exchange, double dispatch_scale, LoweredStep& out)
      : graph_(graph), stack_(stack), exchange_(exchange), dispatch_scale_(dispatch_scale), out_(out) {
    out_.host = out_.graph.add_stream("host");
    out_.compute = out_.graph.add_stream("compute");
    out_.communication = out_.graph.add_stream("communication");
    links_.reserve(exchange_.links.size());
    for (const CollectiveLink& link : exchange_.links) links_.push_back(out_.graph.add_link(link.name, link.capacity));
  }

  void iteration(std::int32_t number, std::size_t forward_end, std::size_t backward_end) {
    number_ = number;
    bucket_bytes_ = Bytes(0.0);
    last_exchange_.reset();
    for (std::size_t i = 0; i < backward_end; ++i) {
      const TaskId kernel = operation(i, std::nullopt);
      if (i >= forward_end && exchange_.ranks > 1) collect(i, kernel, i + 1 == backward_end);
    }
    for (std::size_t i = backward_end; i < out_.nodes.size(); ++i) operation(i, last_exchange_);
  }

 private:
  /// Host task and kernel of one node; returns the task that ends last.
  TaskId operation(std::size_t node, std::optional<TaskId> after) {
    const NodeCost& cost = out_.costs[node];
    const bool updating = out_.nodes[node].pass == Pass::update;
    const Seconds dispatch = dispatch_scale_ * cost.host_operators * (updating ? stack_.update_dispatch : stack_.dispatch);
    const bool has_kernel = cost.kernel.time > Seconds(0.0);
    std::array<TaskId, 2> wait{};
    std::size_t waits = 0;
    if (stack_.coupling == HostCoupling::serialized && last_kernel_) wait[waits++] = *last_kernel_;
    const TaskId host = add(Work::host, node, out_.host, dispatch, {wait.data(), waits});
    if (!has_kernel) return host;
    waits = 0;
    wait[waits++] = host;
    if (after) wait[waits++] = *after;
    last_kernel_ = add(Work::kernel, node, out_.compute, cost.kernel.time, {wait.data(), waits});
    return *last_kernel_;
  }

  TaskId add(Work work, std::size_t node, engine::StreamId stream, Seconds duration, std::span<const TaskId> after) {
    const auto label = static_cast<std::int32_t>(out_.tasks.size());
    out_.tasks.push_back({work, static_cast<std::int32_t>(node), number_});
    if (number_ == 0) out_.total += duration;
    return out_.graph.add_task(stream, SimTime::from(duration), after, label);
  }

  /// Adds the gradients that this backward node completes to the open bucket and sends it when it is full.
  void collect(std::size_t node, TaskId kernel, bool last) {
    const StepNode& n = out_.nodes[node];
    if (n.pass != Pass::gradient_sum && n.pass != Pass::backward_data) {
      for (const ParameterId id : graph_.op(n.op).parameters)
        bucket_bytes_ += static_cast<double>(elements(graph_.parameter(id).shape)) * kGradientElement;
    }
    if (bucket_bytes_ == Bytes(0.0)) return;
    if (!last && (!stack_.exchange_overlaps || bucket_bytes_ < stack_.exchange_bucket)) return;
    const auto label = static_cast<std::int32_t>(out_.tasks.size());
    out_.tasks.push_back({Work::exchange, -1, number_});
    const CollectiveCall call = collective_call(exchange_, bucket_bytes_);
    route_.clear();
    for (const LinkWeight& use : call.weights) route_.push_back({links_[static_cast<std::size_t>(use.link)], use.weight});
    last_exchange_ =
        out_.graph.add_flow(out_.communication, bucket_bytes_, SimTime::from(call.latency), route_, {{kernel}}, label, call.rate);
    if (number_ == 0) {
      out_.exchanged += bucket_bytes_;
      out_.total += call.time;
    }
    bucket_bytes_ = Bytes(0.0);
  }

  static constexpr Bytes kGradientElement{4.0};  // gradients are exchanged as fp32

  const OpGraph& graph_;
  const Stack& stack_;
  const CollectivePlan& exchange_;
  double dispatch_scale_;
  LoweredStep& out_;
  std::vector<engine::LinkId> links_;   // of the plan
  std::vector<engine::LinkUse> route_;  // of the call being added
  std::optional<TaskId> last_kernel_, last_exchange_;
  Bytes bucket_bytes_;
  std::int32_t number_ = 0;
};

}  // namespace

LoweredStep lower(const OpGraph& graph, const TrainingStep& step, const KernelModel& kernels, const Stack& stack,
                  const CollectivePlan& exchange, const LowerOptions& options) {
  LoweredStep out;
  out.nodes.reserve(step.forward.size() + step.backward.size() + step.update.size());
  out.nodes.insert(out.nodes.end(), step.forward.begin(), step.forward.end());
  const std::size_t forward_end = out.nodes.size();
  out.nodes.insert(out.nodes.end(), step.backward.begin(), step.backward.end());
  const std::size_t backward_end = out.nodes.size();
  if (options.update) out.nodes.insert(out.nodes.end(), step.update.begin(), step.update.end());
  out.costs.reserve(out.nodes.size());
  for (const StepNode& node : out.nodes) out.costs.push_back(kernels.cost(graph, node, options.batch));
  out.iterations = stack.coupling == HostCoupling::queued ? 2 : 1;
  const auto count = 2 * out.nodes.size() * static_cast<std::size_t>(out.iterations);
  out.graph.reserve(count, 2 * count);
  out.tasks.reserve(count);
  Lowering lowering(graph, stack, exchange, options.dispatch_scale, out);
  for (std::int32_t i = 0; i < out.iterations; ++i) lowering.iteration(i, forward_end, backward_end);
  return out;
}

}  // namespace tbdsim
