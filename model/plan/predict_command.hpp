#pragma once
#include <string>

#include "model/configuration/predict_options.hpp"

namespace tbdsim::plan {

/// The command that predicts a row.
[[nodiscard]] std::string predict_command(const PredictOptions& options);

}  // namespace tbdsim::plan
