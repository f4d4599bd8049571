#pragma once
#include <optional>

#include "model/configuration/configuration.hpp"
#include "model/configuration/predict_options.hpp"
#include "model/configuration/session.hpp"

namespace tbdsim {

/// The job with the longest sequences of its data set. A framework holds memory for them, while the mean length sets the time.
/// Nothing where a length is named, where none is known of the network's data set, and where the network is divided.
/// Errors: as `configure`.
[[nodiscard]] Result<std::optional<Configuration>> with_longest_sequences(Session& session, const PredictOptions& options,
                                                                          const Configuration& configuration);

/// `configure` for what asks of memory alone: with the longest sequences where `with_longest_sequences` has any.
[[nodiscard]] Result<Configuration> configure_for_memory(Session& session, const PredictOptions& options);

}  // namespace tbdsim
