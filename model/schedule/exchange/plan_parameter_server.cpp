#include <fmt/format.h>

#include "model/schedule/exchange/parameter_server_exchange.hpp"
#include "model/schedule/exchange/plan_exchange.hpp"

namespace tbdsim {
namespace {

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

Result<PlannedExchange> plan_p3(const ExchangeSetting& setting) { return plan_servers(setting, true); }

}  // namespace tbdsim
