#include "model/schedule/exchange/plan_exchange.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cassert>

namespace tbdsim {
namespace {

constexpr std::array<ExchangeKind, 9> kKinds{{{"allreduce", "", plan_bucketed_all_reduce},
                                              {"nccl", "mxnet", plan_nccl_store},
                                              {"p2p", "mxnet", plan_p2p_store},
                                              {"local", "mxnet", plan_local_store},
                                              {"ps", "", plan_parameter_server},
                                              {"ps-p3", "mxnet", plan_p3},
                                              {"byteps", "", plan_byteps},
                                              {"dataparallel", "pytorch", plan_data_parallel},
                                              {"pipeline", "", plan_pipeline}}};

}  // namespace

Seconds store_key_time(const ExchangeSetting& setting, Seconds store) {
  return setting.system.host.dispatch_scale * std::max(store, setting.stack.update_dispatch);
}

std::span<const ExchangeKind> exchange_kinds() { return kKinds; }

Result<PlannedExchange> plan_exchange(std::string_view name, const ExchangeSetting& setting) {
  const auto* kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const ExchangeKind& k) { return k.name == name; });
  assert(kind != kKinds.end());
  if (!kind->framework.empty() && setting.stack.framework != kind->framework)
    return fail(fmt::format("exchange {} belongs to {}; stack {} is {}", name, kind->framework, setting.stack.id,
                            setting.stack.framework));
  return kind->plan(setting);
}

}  // namespace tbdsim
