#pragma once
#include "model/configuration/session.hpp"
#include "model/prediction/prediction.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

struct SharedStep;

/// Predicts one configuration. `shared`: what a run of predictions has in common, kept by the caller. Errors: unknown names with
/// suggestions, files with all their problems, sizes that make no sense (batch 0, 9 GPUs on nodes of 8), devices that cannot
/// reach each other.
[[nodiscard]] Result<Prediction> predict(Session& session, const PredictOptions& options, SharedStep* shared = nullptr);

}  // namespace tbdsim
