#pragma once
#include <string>

#include "model/configuration/session.hpp"
#include "model/prediction/prediction.hpp"

namespace tbdsim {

/// What `memory` says of a configuration, without its step: of the prediction `memory`, `largest_batch` (where it is asked for)
/// and the configuration's names and sizes are filled. Errors: as `predict`.
[[nodiscard]] Result<Prediction> predict_memory(Session& session, const PredictOptions& options);

}  // namespace tbdsim
