#pragma once
#include "model/analysis/configure.hpp"
#include "model/analysis/input_verdict.hpp"
#include "model/analysis/step_times.hpp"

namespace tbdsim {

/// Fills in `input`, `pipeline`, where its samples lie and the input's source of a configuration whose system, stack, workload,
/// size and exchange are known: `--input`, else the stack's own default; `--storage`, else memory that costs nothing to read.
/// Errors: an unknown input or storage; images for a network that takes none; a data set that memory does not hold; a mock
/// trainer without anything to load.
[[nodiscard]] Errors choose_input(Session& session, const PredictOptions& options, Configuration& configuration);

/// Puts the trainer behind its input: the step becomes the mean of both together, what the trainer waits for is
/// `input_exposed`, the limits get loading's part. Nothing changes, and nothing is judged, with synthetic input.
[[nodiscard]] std::optional<InputVerdict> add_input_stage(const Configuration& configuration, StepTimes& times);

}  // namespace tbdsim
