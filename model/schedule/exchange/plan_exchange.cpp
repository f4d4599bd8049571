#include "model/schedule/exchange/plan_exchange.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

namespace tbdsim {
namespace {

constexpr std::array<ExchangeKind, 7> kKinds{{{"allreduce", "", plan_bucketed_all_reduce},
                                              {"nccl", "mxnet", plan_nccl_store},
                                              {"p2p", "mxnet", plan_p2p_store},
                                              {"local", "mxnet", nullptr},
                                              {"ps", "", plan_parameter_server},
                                              {"ps-p3", "mxnet", plan_p3},
                                              {"dataparallel", "pytorch", nullptr}}};

}  // namespace

std::span<const ExchangeKind> exchange_kinds() { return kKinds; }

Result<PlannedExchange> plan_exchange(std::string_view name, const ExchangeSetting& setting) {
  const auto* kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const ExchangeKind& k) { return k.name == name; });
  assert(kind != kKinds.end());
  if (kind->plan == nullptr) {
    std::vector<std::string_view> modelled;
    for (const ExchangeKind& k : kKinds) {
      if (k.plan != nullptr && (k.framework.empty() || setting.stack.framework == k.framework)) modelled.push_back(k.name);
    }
    return fail(fmt::format("exchange {} is not modelled in this version; under {} there are {}", name, setting.stack.id,
                            fmt::join(modelled, ", ")));
  }
  if (!kind->framework.empty() && setting.stack.framework != kind->framework)
    return fail(fmt::format("exchange {} belongs to {}; stack {} is {}", name, kind->framework, setting.stack.id,
                            setting.stack.framework));
  return kind->plan(setting);
}

}  // namespace tbdsim
