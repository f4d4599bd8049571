#pragma once
#include "model/cli/output.hpp"
#include "model/configuration/session.hpp"

namespace tbdsim {

/// A job as settings of a framework of the catalogue ("megatron"). Errors: no such framework; as `configure`.
[[nodiscard]] Result<Answer> framework_settings(Session& session, const PredictOptions& options, const std::string& framework);

}  // namespace tbdsim
