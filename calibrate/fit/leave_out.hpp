#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/fit/assessment.hpp"

namespace tbdsim::calibrate {

/// What is held out at a time.
enum class Holdout { board, architecture };

struct LeaveOutOptions {
  Holdout holdout = Holdout::board;
  int draws = 10;      ///< random draws of samples of the new board
  int draw_size = 20;  ///< samples of one draw, of each family and class of arithmetic
  unsigned seed = 1;
};

/// Accuracy with all samples of the board, with none, and with a few.
struct LeaveOut {
  std::vector<AssessedRow> fitted;    ///< board fitted to the scored samples themselves
  std::vector<AssessedRow> left_out;  ///< everything fitted without the board (or its architecture)
  std::vector<AssessedRow> drawn;     ///< left out, then fitted to a few samples; rows of every draw, without those samples
  /// Fits that were refused: the board's rows are then scored with what it has without samples, and where the fit of the others
  /// was refused not at all. One sentence a board and reason.
  std::vector<std::string> refused_fitted, refused_left_out, refused_drawn;
};

/// Scores `samples`: shared constants and relatives come from `training` without the board, or without every board of its
/// architecture. Both need a description in `devices`. Deterministic.
/// Errors: no board but one.
[[nodiscard]] Result<LeaveOut> leave_out(const std::vector<std::vector<Sample>>& sets, const std::vector<Sample>& training,
                                         const DeviceMap& devices, const KernelConstants& constants,
                                         const LeaveOutOptions& options);

}  // namespace tbdsim::calibrate
