#pragma once
#include "model/configuration/session.hpp"
#include "model/prediction/prediction.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

struct FirstPrediction;
struct SharedStep;

/// Predicts one configuration. `known`: what a run of predictions has in common, of the first one. Errors: unknown names with
/// suggestions, files with all their problems, sizes that make no sense (batch 0, 9 GPUs on nodes of 8), devices that cannot
/// reach each other.
[[nodiscard]] Result<Prediction> predict(Session& session, const PredictOptions& options, const SharedStep* known = nullptr);

/// The same of the first configuration of a run, with what the others have in common with it.
[[nodiscard]] Result<FirstPrediction> predict_first(Session& session, const PredictOptions& options);

}  // namespace tbdsim
