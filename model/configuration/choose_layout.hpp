#pragma once
#include <optional>

#include "model/configuration/configuration.hpp"
#include "model/configuration/predict_options.hpp"

namespace tbdsim {

/// Which axes are asked for, in what order a pipeline runs, and what is left of the GPUs for copies. Expects the configuration's
/// stack, GPUs (0: not known, then nothing is asked of their number) and exchange. Errors: axes that do not divide the GPUs; what
/// the stack, the exchange or another option excludes.
[[nodiscard]] Errors choose_layout(const PredictOptions& options, Configuration& configuration);

/// What `--sequence-parallel` says; nothing: it is not given, and the stack decides.
[[nodiscard]] std::optional<bool> asked_sequence(const PredictOptions& options);
/// Whether what a tensor axis of so many GPUs leaves whole is to be divided by positions: as asked, else as the stack does it.
[[nodiscard]] bool wants_sequence(const PredictOptions& options, const Stack& stack, int tensor);

/// The highest stage of ZeRO that a framework has; 0: it shards nothing. `predict` takes higher ones as a what-if.
[[nodiscard]] int most_zero(const Stack& stack);
/// All stages that it has, in order; 0 is one.
[[nodiscard]] std::vector<int> zero_stages(const Stack& stack);

/// How many micro-batches an update has; a notice says where ZeRO has nothing to divide. Expects the layout and the batch.
/// Errors: a global batch that is not a whole number of them; numbers that the pipeline's order cannot have.
[[nodiscard]] Errors choose_micro_batches(const PredictOptions& options, Configuration& configuration);

/// Divides a configuration anew: layout, schedule, sharding, batch and micro-batches as `options` ask, all else as it is.
/// Errors: of both.
[[nodiscard]] Errors choose_division(const PredictOptions& options, Configuration& configuration);

}  // namespace tbdsim
