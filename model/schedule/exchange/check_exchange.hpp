#pragma once
#include "model/hardware/cluster.hpp"
#include "model/stack/exchange.hpp"
#include "model/stack/stack.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

/// What decides whether a job can exchange its gradients in a way.
struct ExchangeJob {
  const System& system;
  const Stack& stack;
  int gpus_per_node = 1, nodes = 1;
  bool network = false;   ///< one joins the nodes
  int micro_batches = 1;  ///< before an update
};

/// Errors: several nodes without a network; an exchange of another framework, of one machine on several, of servers that the
/// stack does not have, or one that adds up after every micro-batch of several. What depends on wires and sizes its planner
/// tells.
[[nodiscard]] Result<void> check_exchange(Exchange exchange, const ExchangeJob& job);

}  // namespace tbdsim
