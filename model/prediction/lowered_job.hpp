#pragma once
#include <string>

#include "model/configuration/configuration.hpp"
#include "model/cost/kernel_model.hpp"
#include "model/prediction/shared_step.hpp"
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

/// `shared`: what is known of the step already, or will be then. Errors: as `predict`, among them a step that takes longer, or
/// shorter, than any that a machine runs.
[[nodiscard]] Result<LoweredJob> lower_job(const Configuration& configuration, SharedStep* shared = nullptr);

}  // namespace tbdsim
