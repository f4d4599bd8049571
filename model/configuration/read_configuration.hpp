#pragma once
#include "model/configuration/configuration.hpp"
#include "model/configuration/predict_options.hpp"

namespace tbdsim {

/// A job as its files and options state it, without `--set`: every name looked up, every default filled in, every size checked.
/// Expects `options.set` to be empty. Errors: as `predict`.
[[nodiscard]] Result<Configuration> read_configuration(Session& session, const PredictOptions& options);

/// What is wrong with the names of a job's precision, optimiser and exchange, whatever its machine is.
[[nodiscard]] Errors unknown_choices(const PredictOptions& options);

/// The collective library with which the ranks of a configuration, whose stack, system and nodes are known, exchange.
[[nodiscard]] std::shared_ptr<const Result<NcclLibrary>> collective_library(Session& session, const Configuration& configuration);

}  // namespace tbdsim
