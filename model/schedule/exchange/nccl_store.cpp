#include "model/schedule/exchange/nccl_store.hpp"

#include <fmt/format.h>

#include "model/schedule/exchange/plan_exchange.hpp"

namespace tbdsim {

using engine::TaskId;

std::size_t NcclStore::group_of(ParameterId key) const {
  return static_cast<std::size_t>(key.value) / static_cast<std::size_t>(settings_.keys_per_group);
}

bool NcclStore::runs(const StepBuilder& builder, std::size_t node, std::int32_t /*rank*/) const {
  return builder.node(node).pass != Pass::update;
}

void NcclStore::prepare(StepBuilder& builder) {
  const auto keys = static_cast<std::int32_t>(builder.graph().parameters.size());
  groups_.clear();
  for (std::int32_t k = 0; k < keys; ++k) {
    const ParameterId key{k};
    if (group_of(key) == groups_.size()) groups_.emplace_back();
    Group& group = groups_.back();
    group.bytes += builder.gradient_bytes(key);
    const double count = static_cast<double>(elements(builder.graph().parameter(key).shape));
    group.update += settings_.slowdown * kernels_.update_cost(count).kernel.time;
    ++group.keys;
  }
  reduce_.prepare(builder);
  broadcast_.prepare(builder);
  calls_ = builder.add_queue("collectives");
  updates_ = builder.add_queue("store");
  process_ = builder.add_stream("process");
}

void NcclStore::begin_iteration(StepBuilder& /*builder*/) {
  for (Group& group : groups_) {
    group.missing = group.keys;
    group.gradients.clear();
  }
}

std::span<const TaskId> NcclStore::before(StepBuilder& builder, std::size_t node, std::int32_t /*rank*/) {
  waits_.clear();
  const StepNode& n = builder.node(node);
  if (n.pass != Pass::forward) return waits_;
  waits_ = driven_;
  for (const ParameterId key : builder.graph().op(n.op).parameters) {
    const TaskId arrived = groups_[group_of(key)].arrived;
    if (arrived.value >= 0 && (waits_.empty() || waits_.back().value != arrived.value)) waits_.push_back(arrived);
  }
  return waits_;
}

void NcclStore::after(StepBuilder& builder, std::size_t node, std::span<const TaskId> kernels) {
  for (const ParameterId key : builder.gradients(node)) {
    Group& group = groups_[group_of(key)];
    group.gradients.push_back(kernels.front());
    builder.count_exchanged(builder.gradient_bytes(key));
    if (--group.missing == 0) exchange(builder, static_cast<std::int32_t>(group_of(key)));
  }
  if (!builder.ends_backward(node)) return;
  const Seconds work = static_cast<double>(builder.graph().parameters.size()) * settings_.host_per_key;
  driven_.assign(1, builder.add_task({Work::host, static_cast<std::int32_t>(node)}, process_, work, kernels));
}

void NcclStore::exchange(StepBuilder& builder, std::int32_t number) {
  Group& group = groups_[static_cast<std::size_t>(number)];
  const StepTask task{Work::exchange, -1, 0, 0, number};
  const TaskId reduced = reduce_.call(builder, task, calls_, group.bytes, group.gradients);
  const TaskId updated =
      builder.add_task({Work::exchange, -1, 0, 0, number, Leg::merge, 1.0}, updates_, group.update, {{reduced}});
  group.arrived = broadcast_.call(builder, task, calls_, group.bytes, {{updated}});
  for (const TaskId t : {reduced, updated, group.arrived}) builder.set_priority(t, number);
}

Result<PlannedExchange> plan_nccl_store(const ExchangeSetting& setting) {
  if (setting.ranks() == 1) return plan_bucketed_all_reduce(setting);
  const StoreSettings& store = setting.stack.store;
  const CollectiveGroup group{setting.devices, setting.nodes, setting.network};
  auto reduce = plan_collective(setting.system, group, CollectiveKind::reduce, setting.nccl);
  if (!reduce) return tl::make_unexpected(reduce.error());
  auto broadcast = plan_collective(setting.system, group, CollectiveKind::broadcast, setting.nccl);
  if (!broadcast) return tl::make_unexpected(broadcast.error());
  std::string description =
      fmt::format("reduce and broadcast in groups of {} keys, {}", store.keys_per_group, reduce->description);
  const Seconds host = store_key_time(setting, static_cast<double>(setting.devices.size()) * store.nccl_key_gpu);
  auto style = std::make_unique<NcclStore>(std::move(*reduce), std::move(*broadcast), setting.kernels,
                                           NcclStore::Settings{store.keys_per_group, host, store.nccl_slowdown});
  return PlannedExchange{std::move(style), "paper", std::move(description)};
}

}  // namespace tbdsim
