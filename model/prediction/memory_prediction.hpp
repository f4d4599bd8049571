#pragma once
#include <string>

#include "model/configuration/session.hpp"
#include "model/prediction/prediction.hpp"

namespace tbdsim {

/// The option, with its value, that divides a network or its states as only the memory of a GPU is predicted for
/// ("--tensor-parallel 4"); empty where none does.
[[nodiscard]] std::string memory_only_option(const PredictOptions& options);

/// Why the time of a step is not predicted with that option.
[[nodiscard]] std::string no_step_time(const PredictOptions& options, const std::string& option);

/// What `memory` says of a configuration, without its step: of the prediction `memory`, `largest_batch` (where it is asked for)
/// and the configuration's names and sizes are filled. Errors: as `predict`.
[[nodiscard]] Result<Prediction> predict_memory(Session& session, const PredictOptions& options);

}  // namespace tbdsim
