#pragma once
#include <string>
#include <vector>

#include "model/configuration/framework_arguments/layout_file.hpp"
#include "model/configuration/predict_options.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

class Session;

/// Options with what `--layout-from` says in place of those that were left open.
struct FilledOptions {
  PredictOptions options;  ///< without `layout_from`
  std::vector<std::string> notices;
  std::string sha256;  ///< of the file
};

/// Fills in the options that the user left open; which of the file's differ from those that the user gave is told. Expects
/// options with `layout_from`. Errors: those of the file; settings that change the cost and are not modelled, unless
/// `--unmodelled allow`; GPUs that do not hold the copies of the network that the file asks for.
[[nodiscard]] Result<FilledOptions> fill_from_layout_file(Session& session, const PredictOptions& options);

/// The same of a file that has been read.
[[nodiscard]] Result<FilledOptions> fill_from(Session& session, const LayoutFile& file, const PredictOptions& options);

}  // namespace tbdsim
