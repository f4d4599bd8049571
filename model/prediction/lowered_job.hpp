#pragma once
#include <span>
#include <string>
#include <vector>

#include "model/configuration/configuration.hpp"
#include "model/cost/kernel_model.hpp"
#include "model/schedule/exchange/peer_copies.hpp"
#include "model/schedule/lowered_step.hpp"

namespace tbdsim {

/// A configuration's step as tasks, with what its kernels cost and how its gradients travel.
struct LoweredJob {
  KernelModel kernels;
  std::string exchange_kind, exchange_description;  ///< provenance
  std::vector<IndirectCopy> indirect;
  LoweredStep step;
};

/// `costs`: those of `kernel_costs` where they are known; they must outlive the call alone. Errors: as `predict`, among them a
/// step that takes longer, or shorter, than any that a machine runs.
[[nodiscard]] Result<LoweredJob> lower_job(const Configuration& configuration, std::span<const NodeCost> costs = {});

/// What each node of the step costs before anything slows it down.
[[nodiscard]] Result<std::vector<NodeCost>> kernel_costs(const Configuration& configuration);

}  // namespace tbdsim
