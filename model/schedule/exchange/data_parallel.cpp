#include "model/schedule/exchange/data_parallel.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "model/cost/issue.hpp"
#include "model/schedule/exchange/plan_exchange.hpp"

namespace tbdsim {

using engine::TaskId;

namespace {

/// torch.nn.parallel.comm: buffer_size of broadcast_coalesced and reduce_add_coalesced.
constexpr Bytes kBuffer{10.0 * 1024 * 1024};

/// Threads that share the interpreter's lock hand it over: an operator issued by one of two takes so many times what it takes
/// alone (measured: `two_threads` over `one_thread` of calibrate/samples/host/epyc_zen4.csv).
constexpr double kSharedLock = 1.12;

bool is_loss_node(const StepBuilder& builder, const StepNode& node) {
  return node.pass != Pass::update && is_loss(builder.graph().op(node.op).kind);
}

Bytes floats(const Shape& shape) { return static_cast<double>(elements(shape)) * Bytes(4.0); }

}  // namespace

void DataParallelExchange::prepare(StepBuilder& builder) {
  stream_ = builder.add_stream("communication");
  broadcast_.prepare(builder);
  reduce_.prepare(builder);
  copies_.prepare(builder);
}

void DataParallelExchange::begin_iteration(StepBuilder& builder) {
  calls_ = 0;
  waiting_.clear();
  if (last_.value >= 0) waiting_.push_back(last_);
  move(builder, Direction::scatter, batch_ * floats(builder.graph().tensors.front().shape), last_);
  weights(builder, broadcast_);
}

/// Flattened into buffers on the sending GPU, one call each.
void DataParallelExchange::weights(StepBuilder& builder, CollectiveLane& lane) {
  Bytes left(0.0);
  const auto arrays = static_cast<std::int32_t>(builder.graph().parameters.size());
  for (std::int32_t i = 0; i < arrays; ++i) left += builder.gradient_bytes({i});
  while (left > Bytes(0.0)) {
    const Bytes buffer = std::min(left, kBuffer);
    left -= buffer;
    const StepTask task{Work::exchange, -1, 0, 0, calls_++}, flatten{Work::exchange, -1, 0, 0, task.item, Leg::merge};
    waiting_ = {builder.add_task(flatten, stream_, kernels_.memory_kernel(2.0 * buffer), waiting_)};
    waiting_ = {lane.call(builder, task, stream_, buffer, waiting_)};
  }
}

void DataParallelExchange::move(StepBuilder& builder, Direction direction, Bytes bytes, TaskId after) {
  std::vector<TaskId> source;
  if (after.value >= 0) source.push_back(after);
  for (int gpu = 1; gpu < gpus_; ++gpu) {
    const int pair = direction == Direction::scatter ? gpu : gpu * gpus_;
    const StepTask task{Work::exchange, -1, 0, 0, calls_++, direction == Direction::scatter ? Leg::scatter : Leg::gather};
    waiting_.push_back(copies_.copy(builder, task, engine::StreamId{}, static_cast<std::size_t>(pair), bytes, source));
  }
}

std::span<const TaskId> DataParallelExchange::before(StepBuilder& /*builder*/, std::size_t /*node*/, std::int32_t /*rank*/) {
  // The compute stream keeps its order, so one kernel waits for all that follow it.
  wait_.swap(waiting_);
  waiting_.clear();
  return wait_;
}

double DataParallelExchange::stretch(const StepBuilder& builder, std::size_t node, std::int32_t /*rank*/) const {
  return is_loss_node(builder, builder.node(node)) ? gpus_ : 1.0;
}

Seconds DataParallelExchange::issue(const StepBuilder& builder, std::size_t node, Seconds dispatch) const {
  if (builder.node(node).pass != Pass::forward) return dispatch;
  const double arrays = static_cast<double>(builder.graph().parameters.size());
  return gpus_ * (kSharedLock * dispatch + (node == 0 ? arrays * replica_ : Seconds(0.0)));
}

void DataParallelExchange::after(StepBuilder& builder, std::size_t node, std::span<const TaskId> kernels) {
  for (const ParameterId id : builder.gradients(node)) builder.count_exchanged(builder.gradient_bytes(id));
  last_ = kernels.front();
  const StepNode& n = builder.node(node);
  if (is_loss_node(builder, n) && n.pass != Pass::forward)
    move(builder, Direction::scatter, batch_ * floats(builder.graph().input_shape(builder.graph().op(n.op))), last_);
  if (node + 1 < builder.step().nodes.size() && n.pass == Pass::forward) {
    const StepNode& next = builder.node(node + 1);
    if (next.pass == Pass::forward && is_loss_node(builder, next))
      move(builder, Direction::gather, batch_ * floats(builder.graph().input_shape(builder.graph().op(next.op))), last_);
  }
  if (!builder.ends_backward(node)) return;
  waiting_.push_back(last_);
  weights(builder, reduce_);
}

Result<PlannedExchange> plan_data_parallel(const ExchangeSetting& setting) {
  if (setting.ranks() == 1) return plan_bucketed_all_reduce(setting);
  const CollectiveGroup group{setting.devices, setting.nodes, setting.network};
  auto broadcast = plan_collective(setting.system, group, CollectiveKind::broadcast, setting.nccl);
  if (!broadcast) return tl::make_unexpected(broadcast.error());
  auto reduce = plan_collective(setting.system, group, CollectiveKind::reduce, setting.nccl);
  if (!reduce) return tl::make_unexpected(reduce.error());
  auto routes = peer_routes(setting.system, setting.devices, UnlinkedRoute::host);
  if (!routes) return tl::make_unexpected(routes.error());
  std::string description = fmt::format("one process: broadcast and reduce in buffers of 10 MiB, {}", reduce->description);
  const Seconds replica = issue_scale(setting.system.host, setting.stack.host) * replica_array(setting.stack.host);
  DataParallelExchange::Plan plan{
      std::move(*broadcast), std::move(*reduce), std::move(*routes), static_cast<int>(setting.devices.size()), replica,
      setting.batch};
  return PlannedExchange{std::make_unique<DataParallelExchange>(std::move(plan), setting.kernels), "paper",
                         std::move(description)};
}

}  // namespace tbdsim
