#include "model/schedule/exchange/parameter_server_exchange.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tbdsim {

using engine::StreamId;
using engine::TaskId;

namespace {

/// What has no link of its own on its way takes no time: gathering, where PCIe is the network.
Bytes moved(Bytes bytes, const std::vector<engine::LinkUse>& route) { return route.empty() ? Bytes(0.0) : bytes; }

}  // namespace

void ParameterServerExchange::prepare(StepBuilder& builder) {
  const auto uses = [&](const std::vector<LinkLoad>& loads) {
    std::vector<engine::LinkUse> result;
    result.reserve(loads.size());
    for (const LinkLoad& load : loads) result.push_back({builder.link(load.link, load.capacity), load.weight});
    return result;
  };
  up_ = uses(plan_.inside.up);
  down_ = uses(plan_.inside.down);
  if (over_network()) {
    const bool to_servers = plan_.apart || plan_.emulated;
    const double share = to_servers ? 1.0 : (plan_.nodes - 1.0) / plan_.nodes;
    push_ = uses({{"network", plan_.network, share}});
    reply_way_ = to_servers ? uses({{"network, from the servers", plan_.network, share}}) : push_;
  }
  gather_ = builder.add_queue("gather");
  send_ = builder.add_queue("send");
  serve_ = builder.add_queue("server");
  reply_ = builder.add_queue("reply");
  scatter_ = builder.add_queue("scatter");
  const std::vector<Parameter>& arrays = builder.graph().parameters;
  workers_update_ = plan_.servers_only_add ||
                    (plan_.store_updates_up_to > 0 && std::any_of(arrays.begin(), arrays.end(), [&](const Parameter& array) {
                       return elements(array.shape) > plan_.store_updates_up_to;
                     }));
  host_per_key_ = workers_update_ ? plan_.host_per_key_no_update : plan_.host_per_key;
  if (host_per_key_ > Seconds(0.0)) process_ = builder.add_stream("process");
  arrived_.resize(arrays.size());
  arriving_.resize(arrays.size());
}

void ParameterServerExchange::begin_iteration(StepBuilder& /*builder*/) {
  std::swap(arrived_, arriving_);
  std::fill(arriving_.begin(), arriving_.end(), TaskId{});
  updated_.clear();
  step_waits_ = true;
}

std::span<const TaskId> ParameterServerExchange::before(StepBuilder& builder, std::size_t node, std::int32_t /*rank*/) {
  if (plan_.constants.pulls_at_step) return std::exchange(step_waits_, false) ? wait_ : std::span<const TaskId>();
  wait_.clear();
  const Pass pass = builder.node(node).pass;
  if (pass == Pass::update) wait_.assign(1, arriving_[static_cast<std::size_t>(builder.node(node).parameter.value)]);
  if (pass != Pass::forward) return wait_;
  wait_ = driven_;
  if (workers_update_) return wait_;
  for (const ParameterId id : builder.graph().op(builder.node(node).op).parameters) {
    const TaskId arrived = arrived_[static_cast<std::size_t>(id.value)];
    if (arrived.value >= 0) wait_.push_back(arrived);
  }
  return wait_;
}

void ParameterServerExchange::after(StepBuilder& builder, std::size_t node, std::span<const TaskId> kernels) {
  for (const ParameterId id : builder.gradients(node)) exchange(builder, id, kernels.front());
  if (process_.value < 0 || !builder.ends_backward(node)) return;
  const Seconds work = static_cast<double>(arriving_.size()) * host_per_key_;
  driven_.assign(1, builder.add_task({Work::host, static_cast<std::int32_t>(node)}, process_, work, kernels));
}

void ParameterServerExchange::end_iteration(StepBuilder& builder) {
  if (!plan_.constants.pulls_at_step || updated_.empty()) return;
  // Nothing moves here: the step's queue, which all workers pass.
  const TaskId all = builder.add_task({Work::exchange, -1}, StreamId{}, Seconds(0.0), updated_);
  for (std::size_t i = 0; i < arriving_.size(); ++i) fetch(builder, ParameterId{static_cast<std::int32_t>(i)}, {{all}});
  wait_ = arriving_;
}

Bytes ParameterServerExchange::slice(Bytes array) const {
  return plan_.sliced && plan_.constants.slice > Bytes(0.0) ? std::min(array, plan_.constants.slice) : array;
}

void ParameterServerExchange::exchange(StepBuilder& builder, ParameterId id, TaskId gradient) {
  const Bytes bytes = builder.gradient_bytes(id), piece = slice(bytes);
  builder.count_exchanged(bytes);
  const TaskId gathered = add(builder, Leg::gather, id, gather_, bytes, up_, gradient);
  const auto pieces = static_cast<std::int64_t>(std::max(1.0, std::ceil(bytes / piece)));
  pieces_.clear();
  for (std::int64_t i = 0; i < pieces; ++i)
    pieces_.push_back(serve(builder, id, std::min(piece, bytes - static_cast<double>(i) * piece), gathered));
  if (plan_.constants.pulls_at_step)
    updated_.insert(updated_.end(), pieces_.begin(), pieces_.end());
  else
    fetch(builder, id, pieces_);
}

/// Push, sum and update of one piece.
TaskId ParameterServerExchange::serve(StepBuilder& builder, ParameterId id, Bytes piece, TaskId gathered) {
  const ParameterServer& c = plan_.constants;
  const double gradients = plan_.nodes * (c.reduces_on_device ? 1.0 : plan_.gpus);
  // A server's share of a piece; the first gradient that comes is taken as it is and the others are added to it.
  const Bytes share = piece / plan_.nodes;
  const Seconds updating = workers_update_ ? Seconds(0.0) : share / c.update;
  const Seconds serving = ((gradients - 1.0) * share) / c.sum + updating;
  TaskId at = gathered;
  if (over_network()) at = add(builder, Leg::push, id, send_, piece, push_, at);
  const Seconds all = c.message + serving;
  const double part = all > Seconds(0.0) ? updating.base() / all.base() : 0.0;
  return placed(builder, id, builder.add_task({Work::exchange, -1, 0, 0, id.value, Leg::serve, part}, serve_, all, {{at}}));
}

/// Replies of the pieces as each is updated, then the whole array to the GPUs.
void ParameterServerExchange::fetch(StepBuilder& builder, ParameterId id, std::span<const TaskId> updated) {
  const Bytes bytes = builder.gradient_bytes(id), piece = slice(bytes);
  std::vector<TaskId> replies(updated.begin(), updated.end());
  if (over_network()) {
    for (std::size_t i = 0; i < replies.size(); ++i) {
      const Bytes part = replies.size() == 1 ? bytes : std::min(piece, bytes - static_cast<double>(i) * piece);
      replies[i] = add(builder, Leg::reply, id, reply_, part, reply_way_, replies[i]);
    }
  }
  const StepTask task{Work::exchange, -1, 0, 0, id.value, Leg::scatter};
  arriving_[static_cast<std::size_t>(id.value)] =
      placed(builder, id, builder.add_flow(task, scatter_, moved(bytes, down_), Seconds(0.0), down_, replies));
}

TaskId ParameterServerExchange::add(StepBuilder& builder, Leg leg, ParameterId id, StreamId queue, Bytes bytes,
                                    const std::vector<engine::LinkUse>& route, TaskId after) {
  const bool remote = leg == Leg::push || leg == Leg::reply;
  const Seconds latency = remote ? plan_.constants.message + plan_.network_latency : Seconds(0.0);
  return placed(
      builder, id,
      builder.add_flow({Work::exchange, -1, 0, 0, id.value, leg}, queue, moved(bytes, route), latency, route, {{after}}));
}

/// Parameters are numbered front to back, which is the order in which the next forward pass needs them.
TaskId ParameterServerExchange::placed(StepBuilder& builder, ParameterId id, TaskId task) const {
  if (plan_.prioritized) builder.set_priority(task, id.value);
  return task;
}

}  // namespace tbdsim
