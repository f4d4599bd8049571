#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/cli/output.hpp"
#include "model/configuration/session.hpp"
#include "model/prediction/predict.hpp"

namespace tbdsim {

/// A job as settings of a framework.
struct FrameworkSettings {
  Answer answer;
  std::string title;                            ///< of the framework
  std::vector<std::string> lost;                ///< options of the job that it has no setting for
  std::string stack;                            ///< that `--layout-from` reads the settings with
  std::optional<Result<Prediction>> read_back;  ///< of the settings alone, by that stack, where it was asked for
};

/// A job as settings of a framework of the catalogue ("megatron"). `reads_back`: also predicts the settings as `--layout-from`
/// reads them. Errors: no such framework; as `configure`.
[[nodiscard]] Result<FrameworkSettings> framework_settings(Session& session, const PredictOptions& options,
                                                           const std::string& framework, bool reads_back = false);

}  // namespace tbdsim
