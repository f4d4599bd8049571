#include "model/schedule/lower.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <optional>

#include "model/schedule/engine_operations.hpp"
#include "model/schedule/exchange/bucketed_all_reduce.hpp"

namespace tbdsim {
namespace {

using engine::TaskId;

class Lowering {
 public:
  Lowering(const OpGraph& graph, const Stack& stack, const KernelModel& kernels, ExchangeStyle& style,
           const LowerOptions& options, LoweredStep& out)
      : stack_(stack), kernels_(kernels), style_(style), options_(options), out_(out), builder_(graph, out) {
    const bool one = out_.ranks == 1;
    for (std::int32_t rank = 0; rank < out_.ranks; ++rank) {
      Rank r;
      r.host = builder_.add_stream(one ? "host" : fmt::format("host {}", rank));
      r.compute = builder_.add_stream(one ? "compute" : fmt::format("compute {}", rank));
      ranks_.push_back(r);
    }
    if (evaluates()) {
      for (Rank& rank : ranks_) rank.results = builder_.add_stream("results");
      evaluated_.resize(ranks_.size());
    }
    ended_.resize(ranks_.size());
    shares_ = engine_shares(graph, out_.nodes, out_.costs, stack.engine);
    style_.prepare(builder_);
  }

  void iteration(std::int32_t number) {
    builder_.begin_iteration(number);
    style_.begin_iteration(builder_);
    const std::size_t nodes = out_.nodes.size(), updates = nodes - out_.update_nodes;
    micro_batches(0, updates);
    run(updates, nodes);
    style_.end_iteration(builder_);
  }

 private:
  struct Rank {
    engine::StreamId host, compute, results;
    std::optional<TaskId> last_kernel;
  };

  /// Whether the training loop evaluates every batch, and one rank has all of its outputs.
  [[nodiscard]] bool evaluates() const { return stack_.metric.operators > 0 && outputs() > Bytes(0.0); }

  /// Of a batch, as the loss gets them.
  [[nodiscard]] Bytes outputs() const {
    const OpGraph& graph = builder_.graph();
    const auto loss =
        std::find_if(graph.ops.begin(), graph.ops.end(), [](const Op& op) { return op.kind == OpKind::softmax_loss; });
    return loss == graph.ops.end() ? Bytes(0.0)
                                   : options_.batch * static_cast<double>(elements(graph.input_shape(*loss))) * Bytes(4.0);
  }

  /// The metric of a batch (MXNet's `update_metric`): operators over the outputs, of which the engine has no place of their own,
  /// so that they run when the forward pass has ended; then results are copied to the host, GPU by GPU, by the script's thread,
  /// which issues no further step before. Each copy is an operator's dispatch to the script; its bytes are few.
  /// Neglects: that one thread walks along all classes of a sample (mshadow reduce_with_axis).
  void evaluate() {
    const double scale = options_.slowdown * options_.dispatch_scale;
    const double operators = stack_.metric.operators, copies = options_.driven * stack_.metric.copies;
    const Seconds kernel = options_.slowdown * operators * kernels_.memory_kernel(outputs());
    const auto node = static_cast<std::int32_t>(out_.forward_nodes) - 1;
    for (std::int32_t number = 0; number < out_.ranks; ++number) {
      Rank& rank = ranks_[static_cast<std::size_t>(number)];
      const StepTask host{Work::host, node, 0, number}, work{Work::metric, node, 0, number};
      wait_.clear();
      if (stack_.host.coupling == HostCoupling::serialized && rank.last_kernel) wait_.push_back(*rank.last_kernel);
      const TaskId issued = builder_.add_task(host, rank.host, scale * operators * stack_.host.dispatch, wait_);
      const TaskId done = builder_.add_task(work, rank.compute, kernel, {{issued}});
      rank.last_kernel = done;
      evaluated_[static_cast<std::size_t>(number)] =
          builder_.add_task(host, rank.results, scale * copies * stack_.host.dispatch, {{done}});
    }
  }

  void micro_batches(std::size_t first, std::size_t end) {
    for (std::int32_t i = 0; i < options_.micro_batches; ++i) {
      builder_.begin_micro_batch(i, i + 1 == options_.micro_batches);
      run(first, end);
    }
  }

  void run(std::size_t first, std::size_t end) {
    for (std::size_t node = first; node < end; ++node) {
      for (std::int32_t rank = 0; rank < out_.ranks; ++rank)
        ended_[static_cast<std::size_t>(rank)] = style_.runs(builder_, node, rank) ? operation(node, rank) : TaskId{};
      style_.after(builder_, node, ended_);
      if (node + 1 == out_.forward_nodes && !evaluated_.empty()) evaluate();
    }
  }

  /// Gradients that are added to the sum so far: a kernel and an operator of the host for each array.
  struct Accumulation {
    Seconds kernels{0.0}, host{0.0};
  };
  [[nodiscard]] Accumulation accumulation(std::size_t node) const {
    Accumulation sum;
    if (builder_.micro_batch() == 0) return sum;
    for (const ParameterId id : builder_.produced(node)) {
      const NodeCost cost = kernels_.accumulation_cost(builder_.gradient_bytes(id));
      sum.kernels += options_.slowdown * cost.kernel.time;
      sum.host += options_.slowdown * options_.dispatch_scale * cost.host_operators * stack_.host.dispatch;
    }
    return sum;
  }

  /// Host time of one piece of a node: until its first kernel is launched, and for what it launches after that.
  struct HostTime {
    Seconds first, more;
  };
  [[nodiscard]] HostTime host_time(std::size_t node) const {
    HostTime time = dispatch_time(node);
    const Seconds launches =
        options_.slowdown * out_.costs[node].kernel.kernels / out_.costs[node].pieces * options_.launch_interval;
    if (time.first + time.more < launches) time.more = launches - time.first;
    return time;
  }
  [[nodiscard]] HostTime dispatch_time(std::size_t node) const {
    const NodeCost& cost = out_.costs[node];
    const double scale = options_.slowdown * options_.dispatch_scale, part = scale / cost.pieces, operators = cost.host_operators;
    if (out_.nodes[node].pass == Pass::update) return {part * operators * stack_.host.update_dispatch, Seconds(0.0)};
    const Seconds engine = part * shares_[node].operations * stack_.engine.operation;
    if (stack_.engine.operators == 1 || operators <= cost.pieces)
      return {engine + part * operators * stack_.host.dispatch, Seconds(0.0)};
    return {engine + scale * stack_.host.dispatch, part * (operators - cost.pieces) * stack_.host.dispatch};
  }

  /// Whether the host waits for the device before it handles a node of the update.
  [[nodiscard]] bool waits(std::size_t node) const {
    if (out_.nodes[node].pass != Pass::update) return false;
    return stack_.update.wait == UpdateWait::each_array ||
           (stack_.update.wait == UpdateWait::once && node == out_.nodes.size() - out_.update_nodes);
  }

  /// A step is issued when the one before has been evaluated.
  void add_evaluated() {
    for (const TaskId task : evaluated_)
      if (task.value >= 0) wait_.push_back(task);
  }

  /// Host tasks and kernel of every piece of a node; returns the task with which its results exist: where no kernel makes
  /// them, as of a view, the rank's last one, for the host runs ahead of what they are made of.
  TaskId operation(std::size_t node, std::int32_t number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    const NodeCost& cost = out_.costs[node];
    HostTime host = host_time(node);
    const Accumulation sum = accumulation(node);
    host.first = style_.issue(builder_, node, host.first + (1.0 / cost.pieces) * sum.host);
    const auto index = static_cast<std::int32_t>(node);
    const bool begins = stack_.host.coupling == HostCoupling::serialized && shares_[node].begins;
    const double stretch = style_.stretch(builder_, node, number);
    const Seconds kernel = (1.0 / cost.pieces) * (stretch * cost.kernel.time + sum.kernels);
    StepTask work{Work::kernel, index, 0, number};
    if (stretch > 1.0 && kernel > Seconds(0.0))
      work.stretched = (1.0 / cost.pieces) * ((stretch - 1.0) * cost.kernel.time) / kernel;
    TaskId last;
    for (int piece = 0; piece < cost.pieces; ++piece) {
      wait_.clear();
      if ((begins || (piece == 0 && waits(node))) && rank.last_kernel) wait_.push_back(*rank.last_kernel);
      if (node == 0 && piece == 0) {
        add_evaluated();
        if (stack_.host.waits_each_step && rank.last_kernel) wait_.push_back(*rank.last_kernel);
      }
      last = builder_.add_task({Work::host, index, 0, number}, rank.host, host.first, wait_);
      if (cost.kernel.time > Seconds(0.0)) {
        wait_.assign(1, last);
        if (piece == 0) {
          const auto held = style_.before(builder_, node, number);
          wait_.insert(wait_.end(), held.begin(), held.end());
        }
        rank.last_kernel = last = builder_.add_task(work, rank.compute, kernel, wait_);
      }
      if (host.more > Seconds(0.0)) builder_.add_task({Work::host, index, 0, number}, rank.host, host.more, {});
    }
    return cost.kernel.time > Seconds(0.0) ? last : rank.last_kernel.value_or(last);
  }

  const Stack& stack_;
  const KernelModel& kernels_;
  ExchangeStyle& style_;
  const LowerOptions& options_;
  LoweredStep& out_;
  StepBuilder builder_;
  std::vector<EngineShare> shares_;  ///< of each node
  std::vector<Rank> ranks_;
  std::vector<TaskId> evaluated_;  ///< by rank: results of the last batch on the host; empty: none are evaluated
  std::vector<TaskId> ended_, wait_;
};

void collect_nodes(const OpGraph& graph, const TrainingStep& step, const KernelModel& kernels, const LowerOptions& options,
                   LoweredStep& out) {
  out.nodes.reserve(step.forward.size() + step.backward.size() + step.update.size());
  out.nodes.insert(out.nodes.end(), step.forward.begin(), step.forward.end());
  out.nodes.insert(out.nodes.end(), step.backward.begin(), step.backward.end());
  if (options.update) out.nodes.insert(out.nodes.end(), step.update.begin(), step.update.end());
  out.forward_nodes = step.forward.size();
  out.update_nodes = options.update ? step.update.size() : 0;
  if (options.costs.empty())
    out.costs = node_costs(graph, step, kernels, options.batch);
  else
    out.costs.assign(options.costs.begin(), options.costs.end());
  out.costs.resize(out.nodes.size());
  for (NodeCost& cost : out.costs) cost.kernel.time *= options.slowdown;
}

}  // namespace

std::vector<NodeCost> node_costs(const OpGraph& graph, const TrainingStep& step, const KernelModel& kernels, double batch) {
  std::vector<NodeCost> costs;
  costs.reserve(step.forward.size() + step.backward.size() + step.update.size());
  const std::vector<Bytes> widths = kernels.widths(graph);
  for (const auto* part : {&step.forward, &step.backward, &step.update})
    for (const StepNode& node : *part) costs.push_back(kernels.cost(graph, node, batch, widths));
  return costs;
}

LoweredStep lower(const OpGraph& graph, const TrainingStep& step, const KernelModel& kernels, const Stack& stack,
                  ExchangeStyle& style, const LowerOptions& options) {
  LoweredStep out;
  collect_nodes(graph, step, kernels, options, out);
  out.iterations = std::max(stack.host.coupling == HostCoupling::queued ? 2 : 1, style.iterations());
  out.ranks = style.ranks();
  out.carries_over = style.carries_over();
  out.in_passes = style.in_passes();
  out.gradient_element = options.gradient_element;
  const auto count = 2 * static_cast<std::size_t>(options.micro_batches) * out.nodes.size() *
                     static_cast<std::size_t>(out.iterations) * static_cast<std::size_t>(out.ranks);
  out.graph.reserve(count, 2 * count);
  out.tasks.reserve(count);
  Lowering lowering(graph, stack, kernels, style, options, out);
  for (std::int32_t i = 0; i < out.iterations; ++i) lowering.iteration(i);
  return out;
}

LoweredStep lower(const OpGraph& graph, const TrainingStep& step, const KernelModel& kernels, const Stack& stack,
                  const CollectivePlan& all_reduce, const LowerOptions& options) {
  BucketedAllReduce style(all_reduce, bucket_policy(stack, all_reduce, 0));
  return lower(graph, step, kernels, stack, style, options);
}

}  // namespace tbdsim
