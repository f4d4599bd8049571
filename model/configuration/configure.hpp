#pragma once
#include "model/configuration/configuration.hpp"
#include "model/configuration/edited_inputs.hpp"
#include "model/hardware/operations.hpp"

namespace tbdsim {

/// Inputs with the values of `options.set` in place: those of the session, made once. Errors: as `configure`.
[[nodiscard]] std::shared_ptr<const Result<EditedInputs>> edited_inputs(Session& session, const PredictOptions& options);

/// A job with the values of `--set` in place. Errors: as `predict`.
[[nodiscard]] Result<Configuration> configure(Session& session, const PredictOptions& options);

/// What is assumed of a run around the job's step, with the values of `--set` in place. Errors: as `configure`.
[[nodiscard]] Result<Operations> configured_operations(Session& session, const PredictOptions& options);

}  // namespace tbdsim
