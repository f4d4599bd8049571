#pragma once
#include <string_view>

#include "model/configuration/configuration.hpp"
#include "model/configuration/predict_options.hpp"

namespace tbdsim {

/// What `--offload` asks for.
struct OffloadRow {
  std::string_view word;
  bool states, layers;  ///< of activations
};
/// Null: no such word.
[[nodiscard]] const OffloadRow* find_offload(const std::string& word);

/// What lies on the hosts, as `options` ask. Sharding of the states follows where the options leave it open. Expects stack, GPUs,
/// layout and recomputation. Errors: what the stack or the layout cannot.
[[nodiscard]] Errors choose_offload(const PredictOptions& options, Configuration& configuration);

/// Whether gradients go to the host after every micro-batch, as those of ZeRO 2 and 3 do, with one copy of the network as well.
/// Else they go once an update, or layer by layer with weights that lie there. Expects the layout.
/// Source: DeepSpeed, stage_1_and_2.py, async_accumulate_grad_in_cpu_via_gpu.
[[nodiscard]] bool gradients_leave_in_turns(const Configuration& configuration);

/// The optimiser that hosts update by.
inline constexpr std::string_view kHostOptimizer = "adam";

/// Errors: an optimiser that no host updates. Expects the optimiser.
[[nodiscard]] Errors check_offloaded_update(const Configuration& configuration);

}  // namespace tbdsim
