#pragma once
#include <string_view>

#include "model/configuration/configuration.hpp"
#include "model/prediction/prediction.hpp"
#include "model/prediction/shared_step.hpp"

namespace tbdsim {

/// Begins the notice of a step that hangs on a CPU that nothing names.
inline constexpr std::string_view kUnnamedCpu = "nothing names the CPU";

/// Predicts one step of a configuration: reads no file and knows no option. `detail`: keeps layers, kernels and timeline.
/// `known`: as in `predict`. Neither costs nor the largest batch are told. Errors: libraries that lack a kernel or an exchange,
/// devices that cannot reach each other, a step that no machine runs.
[[nodiscard]] Result<Prediction> predict_step(const Configuration& configuration, bool detail, const SharedStep* known = nullptr);

/// The first prediction of a run, with what the others have in common with it; nothing where they cannot use it.
struct FirstPrediction {
  Prediction prediction;
  SharedStep shared;
};
[[nodiscard]] Result<FirstPrediction> predict_first_step(const Configuration& configuration, bool detail);

}  // namespace tbdsim
