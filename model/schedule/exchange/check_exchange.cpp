#include "model/schedule/exchange/check_exchange.hpp"

#include <fmt/format.h>

namespace tbdsim {
namespace {

/// Of exchanges that know one machine alone: what they are, and what serves several; null: it may have more.
struct OneMachine {
  const char *what, *instead;
};
std::optional<OneMachine> one_machine(Exchange exchange) {
  switch (exchange) {
    case Exchange::nccl:
    case Exchange::p2p:
    case Exchange::local:
      return OneMachine{"the store of one machine, not of", "allreduce or ps"};
    case Exchange::dataparallel:
      return OneMachine{"one process on one machine, not", "allreduce"};
    case Exchange::allreduce:
    case Exchange::ps:
    case Exchange::ps_p3:
    case Exchange::byteps:
      break;
  }
  return std::nullopt;
}

Result<void> check_servers(Exchange exchange, const Stack& stack) {
  if (exchange == Exchange::local && !stack.server)
    return fail(fmt::format("stack {}: exchange local needs the rates of a [parameter_server]", stack.id));
  if (!info(exchange).parameter_servers) return {};
  if (!stack.server) return fail(fmt::format("exchange {}: stack {} has no parameter server", name(exchange), stack.id));
  if (exchange == Exchange::ps_p3 && stack.server->slice <= Bytes(0.0))
    return fail(fmt::format("stack {}: its [parameter_server] states no slice, which ps-p3 needs", stack.id));
  return {};
}

}  // namespace

Result<void> check_exchange(Exchange exchange, const ExchangeJob& job) {
  const ExchangeInfo& kind = info(exchange);
  if (kind.framework && job.stack.framework != *kind.framework)
    return fail(
        fmt::format("exchange {0} belongs to {1}; stack {2} is {3}; name a stack of {1} with --stack (tbdsim list stacks)",
                    kind.name, name(*kind.framework), job.stack.id, name(job.stack.framework)));
  if (const auto one = one_machine(exchange); one && job.nodes > 1)
    return fail(fmt::format("exchange {} is {} {} nodes; use {}", kind.name, one->what, job.nodes, one->instead));
  // With one GPU nothing is exchanged, but by servers.
  if (job.gpus_per_node * job.nodes > 1 || kind.parameter_servers)
    if (auto servers = check_servers(exchange, job.stack); !servers) return servers;
  if (exchange == Exchange::dataparallel && job.gpus_per_node > 1 && job.micro_batches > 1)
    return fail("exchange dataparallel adds up after every micro-batch, which is not modelled: leave out --accumulate");
  if (job.nodes > 1 && !job.network)
    return fail(fmt::format("{}: {} nodes need a network; name one with --network", job.system.id, job.nodes));
  return {};
}

}  // namespace tbdsim
