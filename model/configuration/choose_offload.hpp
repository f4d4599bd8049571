#pragma once
#include <string_view>

#include "model/configuration/configuration.hpp"
#include "model/configuration/predict_options.hpp"

namespace tbdsim {

/// What lies on the hosts, as `options` ask. Sharding of the states follows where the options leave it open. Expects stack, GPUs,
/// layout and recomputation. Errors: what the stack or the layout cannot.
[[nodiscard]] Errors choose_offload(const PredictOptions& options, Configuration& configuration);

/// The optimiser that hosts update by.
inline constexpr std::string_view kHostOptimizer = "adam";

/// Errors: an optimiser that no host updates. Expects the optimiser.
[[nodiscard]] Errors check_offloaded_update(const Configuration& configuration);

}  // namespace tbdsim
