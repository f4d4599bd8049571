#pragma once
#include "model/configuration/configuration.hpp"
#include "model/prediction/input_verdict.hpp"
#include "model/prediction/step_times.hpp"

namespace tbdsim {

/// Puts the trainer behind its input: the step becomes the mean of both together, what the trainer waits for is
/// `input_exposed`, the limits get loading's part. Nothing changes, and nothing is judged, with synthetic input.
[[nodiscard]] std::optional<InputVerdict> add_input_stage(const Configuration& configuration, StepTimes& times);

}  // namespace tbdsim
