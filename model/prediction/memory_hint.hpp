#pragma once
#include <string>

#include "model/configuration/configuration.hpp"
#include "model/configuration/session.hpp"
#include "model/prediction/prediction.hpp"

namespace tbdsim {

/// What would make room for a job that does not fit, in one line: the largest batch that fits, how many micro-batches of what
/// size then make the same update, and the least recomputing, sharding and splitting of layers that make room for the batch
/// as it is, each by itself. Empty where the job fits or cannot be read.
[[nodiscard]] std::string memory_hint(Session& session, const PredictOptions& options, const Prediction& prediction);

/// The command that searches layouts of a language model on several GPUs, as a sentence; empty for other jobs.
[[nodiscard]] std::string plan_hint(const Configuration& configuration);

}  // namespace tbdsim
