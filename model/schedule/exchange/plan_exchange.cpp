#include "model/schedule/exchange/plan_exchange.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cassert>

namespace tbdsim {
namespace {

constexpr std::array<ExchangeKind, 9> kKinds{{{"allreduce", "", plan_bucketed_all_reduce, false, false, false},
                                              {"nccl", "mxnet", plan_nccl_store, true, false, false},
                                              {"p2p", "mxnet", plan_p2p_store, true, false, false},
                                              {"local", "mxnet", plan_local_store, true, false, true},
                                              {"ps", "", plan_parameter_server, true, true, true},
                                              {"ps-p3", "mxnet", plan_p3, true, true, true},
                                              {"byteps", "", plan_byteps, false, false, false},
                                              {"dataparallel", "pytorch", plan_data_parallel, true, false, false},
                                              {"pipeline", "", plan_pipeline, false, false, false}}};

const ExchangeKind& kind_of(std::string_view name) {
  const auto* kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const ExchangeKind& k) { return k.name == name; });
  assert(kind != kKinds.end());
  return *kind;
}

}  // namespace

Seconds store_key_time(const ExchangeSetting& setting, Seconds store) {
  return setting.system.host.dispatch_scale * std::max(store, setting.stack.host.update_dispatch);
}

std::span<const ExchangeKind> exchange_kinds() { return kKinds; }

bool drives_all(std::string_view name) { return kind_of(name).one_process; }
bool has_tcp_servers(std::string_view name) { return kind_of(name).servers; }
bool sums_on_host(std::string_view name) { return kind_of(name).host_sums; }

Result<PlannedExchange> plan_exchange(std::string_view name, const ExchangeSetting& setting) {
  const ExchangeKind& kind = kind_of(name);
  if (!kind.framework.empty() && setting.stack.framework != kind.framework)
    return fail(fmt::format("exchange {} belongs to {}; stack {} is {}", name, kind.framework, setting.stack.id,
                            setting.stack.framework));
  return kind.plan(setting);
}

}  // namespace tbdsim
