#include "model/schedule/exchange/p2p_store.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>

#include "model/schedule/exchange/plan_exchange.hpp"

namespace tbdsim {

using engine::TaskId;

namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::vector<std::int32_t> key_homes(const std::vector<std::int64_t>& elements, std::int32_t gpus) {
  std::vector<std::size_t> order(elements.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return elements[a] > elements[b]; });
  std::vector<std::int64_t> held(at(gpus), 0);
  std::vector<std::int32_t> homes(elements.size());
  for (const std::size_t key : order) {
    const auto least = std::min_element(held.begin(), held.end());
    *least += elements[key];
    homes[key] = static_cast<std::int32_t>(least - held.begin());
  }
  return homes;
}

bool P2pStore::runs(const StepBuilder& builder, std::size_t node, std::int32_t /*rank*/) const {
  return builder.node(node).pass != Pass::update;
}

void P2pStore::prepare(StepBuilder& builder) {
  std::vector<std::int64_t> sizes;
  for (const Parameter& parameter : builder.graph().parameters) sizes.push_back(elements(parameter.shape));
  home_ = key_homes(sizes, gpus_);
  copies_.prepare(builder);
  for (std::int32_t gpu = 0; gpu < gpus_; ++gpu) {
    workers_.push_back(builder.add_queue(fmt::format("copies from {}", gpu), copy_workers_));
    updates_.push_back(builder.add_queue(fmt::format("store {}", gpu)));
  }
  process_ = builder.add_stream("process");
  arrived_.assign(sizes.size() * at(gpus_), TaskId{});
}

std::span<const TaskId> P2pStore::before(StepBuilder& builder, std::size_t node, std::int32_t rank) {
  waits_.clear();
  const StepNode& n = builder.node(node);
  if (n.pass != Pass::forward) return waits_;
  waits_ = driven_;
  for (const ParameterId key : builder.graph().op(n.op).parameters) {
    const TaskId arrival = arrived_[at(key.value) * at(gpus_) + at(rank)];
    if (arrival.value >= 0) waits_.push_back(arrival);
  }
  return waits_;
}

void P2pStore::after(StepBuilder& builder, std::size_t node, std::span<const TaskId> kernels) {
  for (const ParameterId key : builder.gradients(node)) exchange(builder, key, kernels);
  if (!builder.ends_backward(node)) return;
  const Seconds work = static_cast<double>(home_.size()) * host_per_key_;
  driven_.assign(1, builder.add_task({Work::host, static_cast<std::int32_t>(node)}, process_, work, kernels));
}

void P2pStore::exchange(StepBuilder& builder, ParameterId key, std::span<const TaskId> gradients) {
  const std::int32_t home = home_[at(key.value)];
  const Bytes bytes = builder.gradient_bytes(key);
  builder.count_exchanged(bytes);
  waits_.assign(1, gradients[at(home)]);
  for (std::int32_t gpu = 0; gpu < gpus_; ++gpu) {
    if (gpu == home) continue;
    waits_.push_back(copy(builder, key, gpu, home, gradients[at(gpu)]));
  }
  const double count = static_cast<double>(elements(builder.graph().parameter(key).shape));
  // The sum reads every GPU's gradient and writes one.
  const Seconds update = kernels_.update_cost(count).kernel.time;
  const Seconds merge = kernels_.memory_kernel((gpus_ + 1.0) * bytes) + update;
  const StepTask task{Work::exchange, -1, 0, home, key.value, Leg::merge, update.base() / merge.base()};
  const TaskId updated = builder.add_task(task, updates_[at(home)], merge, waits_);
  builder.set_priority(updated, key.value);
  for (std::int32_t gpu = 0; gpu < gpus_; ++gpu) {
    TaskId& arrival = arrived_[at(key.value) * at(gpus_) + at(gpu)];
    arrival = gpu == home ? updated : copy(builder, key, home, gpu, updated);
  }
}

TaskId P2pStore::copy(StepBuilder& builder, ParameterId key, std::int32_t from, std::int32_t to, TaskId after) {
  const auto send = [&](std::int32_t a, std::int32_t b, TaskId wait) {
    const TaskId sent = copies_.copy(builder, {Work::exchange, -1, 0, a, key.value}, workers_[at(a)], pair(a, b),
                                     builder.gradient_bytes(key), {{wait}});
    builder.set_priority(sent, key.value);
    return sent;
  };
  const std::int32_t relay = copies_.route(pair(from, to)).relay;
  return relay < 0 ? send(from, to, after) : send(relay, to, send(from, relay, after));
}

Result<PlannedExchange> plan_p2p_store(const ExchangeSetting& setting) {
  if (setting.ranks() == 1) return plan_bucketed_all_reduce(setting);
  const StoreSettings& store = setting.stack.store;
  auto routes = peer_routes(setting.system, setting.devices, store.unlinked);
  if (!routes) return tl::make_unexpected(routes.error());
  std::string description = describe_routes(*routes);
  std::vector<IndirectCopy> indirect = indirect_copies(setting.system, setting.devices, *routes);
  const auto gpus = static_cast<std::int32_t>(setting.devices.size());
  const Seconds host = store_key_time(setting, node_key_time(setting));
  return PlannedExchange{std::make_unique<P2pStore>(gpus, std::move(*routes), store.copy_workers, setting.kernels, host), "paper",
                         std::move(description), std::move(indirect)};
}

}  // namespace tbdsim
