#include <fmt/format.h>

#include "model/schedule/exchange/parameter_server_exchange.hpp"
#include "model/schedule/exchange/plan_exchange.hpp"

namespace tbdsim {
namespace {

/// Source: python/mxnet/model.py (_create_kvstore) of Apache MXNet 0.9 to 1.5.
constexpr std::int64_t kLocalStoreUpdates = 16 * 1024 * 1024;

/// What the local store adds up: four threads (CommCPU::nthread_reduction_ and the engine's prioritised CPU workers), each
/// reading a summand and its sum and writing the sum at 12 GB/s together. Assumed: no published figure of the store alone.
constexpr BytesPerSecond kLocalSum{4 * 4e9};

Result<PlannedExchange> plan_servers(const ExchangeSetting& setting, bool p3) {
  const Stack& stack = setting.stack;
  if (!stack.server) return fail(fmt::format("exchange {}: stack {} has no parameter server", p3 ? "ps-p3" : "ps", stack.id));
  ServerPlan plan;
  plan.constants = *stack.server;
  plan.sliced = plan.prioritized = p3;
  if (p3 && plan.constants.slice <= Bytes(0.0))
    return fail(fmt::format("stack {}: its [parameter_server] states no slice, which ps-p3 needs", stack.id));
  plan.gpus = static_cast<int>(setting.devices.size());
  plan.nodes = setting.nodes;
  auto inside =
      node_traffic(setting.system, setting.devices, plan.constants.reduces_on_device ? Gather::on_device : Gather::on_host);
  if (!inside) return tl::make_unexpected(inside.error());
  plan.inside = std::move(*inside);
  std::string where = "on one node";
  if (setting.nodes > 1) {
    if (!setting.network)
      return fail(fmt::format("{}: {} nodes need a network; name one with --network", setting.system.id, setting.nodes));
    plan.network = node_bandwidth(setting.system, *setting.network);
    plan.network_latency = setting.network->latency;
    where = fmt::format("on {} nodes, {} at {:.3g} GB/s a node", setting.nodes, setting.network->id, plan.network.base() / 1e9);
  }
  std::string text = fmt::format("parameter servers beside the workers {}{}", where, p3 ? ", slices by priority" : "");
  return PlannedExchange{std::make_unique<ParameterServerExchange>(std::move(plan)), "fitted", std::move(text)};
}

}  // namespace

Result<PlannedExchange> plan_parameter_server(const ExchangeSetting& setting) { return plan_servers(setting, false); }

Result<PlannedExchange> plan_local_store(const ExchangeSetting& setting) {
  if (setting.ranks() == 1) return plan_bucketed_all_reduce(setting);
  if (setting.nodes > 1)
    return fail(fmt::format("exchange local is the store of one machine, not of {} nodes; use allreduce or ps", setting.nodes));
  if (!setting.stack.server)
    return fail(fmt::format("stack {}: exchange local needs the rates of a [parameter_server]", setting.stack.id));
  auto inside = node_traffic(setting.system, setting.devices, Gather::on_host);
  if (!inside) return tl::make_unexpected(inside.error());
  ServerPlan plan;
  plan.constants = *setting.stack.server;
  plan.constants.reduces_on_device = false;
  plan.constants.sum = kLocalSum;
  plan.inside = std::move(*inside);
  plan.gpus = static_cast<int>(setting.devices.size());
  plan.store_updates_up_to = kLocalStoreUpdates;
  return PlannedExchange{std::make_unique<ParameterServerExchange>(std::move(plan)), "assumed",
                         "copies to the host, sum and update there, copies back"};
}

Result<PlannedExchange> plan_p3(const ExchangeSetting& setting) { return plan_servers(setting, true); }

}  // namespace tbdsim
