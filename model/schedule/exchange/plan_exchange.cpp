#include "model/schedule/exchange/plan_exchange.hpp"

#include <algorithm>

#include "model/schedule/exchange/check_exchange.hpp"

namespace tbdsim {
namespace {

using Planner = Result<PlannedExchange> (*)(const ExchangeSetting& setting);

Planner planner_of(Exchange exchange) {
  switch (exchange) {
    case Exchange::allreduce:
      return plan_bucketed_all_reduce;
    case Exchange::nccl:
      return plan_nccl_store;
    case Exchange::p2p:
      return plan_p2p_store;
    case Exchange::local:
      return plan_local_store;
    case Exchange::ps:
      return plan_parameter_server;
    case Exchange::ps_p3:
      return plan_p3;
    case Exchange::byteps:
      return plan_byteps;
    case Exchange::dataparallel:
      break;
  }
  return plan_data_parallel;
}

}  // namespace

Seconds store_key_time(const ExchangeSetting& setting, Seconds store) {
  return setting.system.host.dispatch_scale * std::max(store, setting.stack.host.update_dispatch);
}

Seconds node_key_time(const ExchangeSetting& setting) {
  const StoreSettings& store = setting.stack.store;
  const auto peers = static_cast<double>(setting.devices.size()) - 1.0;
  return peers > 0.0 ? store.p2p_key + peers * store.p2p_key_peer : Seconds(0.0);
}

Result<PlannedExchange> plan_exchange(Exchange exchange, const ExchangeSetting& setting) {
  return check_exchange(exchange, {setting.system, setting.stack, static_cast<int>(setting.devices.size()), setting.nodes,
                                   setting.network.has_value(), setting.micro_batches})
      .and_then([&] { return planner_of(exchange)(setting); });
}

}  // namespace tbdsim
