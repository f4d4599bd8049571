#pragma once
#include "model/analysis/configure.hpp"
#include "model/analysis/step_times.hpp"

namespace tbdsim {

/// Fills in `input`, `pipeline` and the input's source of a configuration whose system, stack, workload and exchange are
/// known: `--input`, else the stack's own default.
/// Errors: an unknown input; images for a network that takes none; a mock trainer without anything to load.
[[nodiscard]] Errors choose_input(Session& session, const PredictOptions& options, Configuration& configuration);

/// Puts the trainer behind its input: the step becomes the mean of both together, what the trainer waits for is
/// `input_exposed`, the limits get decoding's part. Nothing changes with synthetic input.
void add_input_stage(const Configuration& configuration, StepTimes& times);

}  // namespace tbdsim
