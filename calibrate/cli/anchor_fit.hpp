#pragma once
#include <array>
#include <string>
#include <vector>

#include "calibrate/fit/robust_fit.hpp"
#include "model/configuration/anchor_file.hpp"
#include "model/validation/measured_table.hpp"

namespace tbdsim::calibrate {

/// Multipliers fitted to whole steps.
struct AnchorFit {
  AnchorFile file;
  std::array<double, kAnchors.size()> share{};  ///< most of any step's time that an anchor moves
  std::vector<std::string> hardware;            ///< of the steps, each once
  int steps = 0;
  ErrorSummary before, after;
  std::vector<std::string> passed_over;  ///< rows that are no steps, or cannot be predicted
  std::vector<std::string> implausible;  ///< multipliers, or steps, that say something else is wrong
};

/// Fits every multiplier that moves a step by at least 3 %, in the logarithm, with 1 as a prior as wide as predictions of boards
/// without samples have been off. Steps of several GPUs tell the exchange, small batches the host, long sequences attention.
/// Errors: no row is a step that can be predicted.
[[nodiscard]] Result<AnchorFit> fit_anchors(const std::string& catalogue_root, const std::vector<MeasuredRun>& runs);

}  // namespace tbdsim::calibrate
