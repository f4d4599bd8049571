#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "calibrate/fit/fit_family.hpp"
#include "calibrate/fit/robust_fit.hpp"
#include "calibrate/fit/sustained.hpp"
#include "model/hardware/device.hpp"
#include "model/support/result.hpp"

namespace tbdsim::calibrate {

/// Fewer shapes than this cannot tell arithmetic, bandwidth and launch apart.
inline constexpr std::size_t kFewestShapes = 3;

/// One family and class of arithmetic of one board, before and after.
struct BoardFitReport {
  std::string family, precision;
  int samples = 0, shapes = 0;
  ErrorSummary before, after;  ///< with the inherited and with the fitted parameters, on these samples
};

/// A device with parameters of its own.
struct BoardFit {
  Device device;  ///< its description with a calibration for every family that had enough samples
  std::vector<BoardFitReport> reports;
  std::vector<std::string> inherited;    ///< what was too thin to fit, and where its values are from
  std::vector<SustainedRate> sustained;  ///< what long runs keep; the shares of peak and the clock are at that
  std::vector<std::string> warnings;     ///< samples that cannot be true, with their rows; fits that made it worse
};

/// Fits the parameters of one board, starting from what it would use without samples: those values are the prior, as wide
/// as the transfer that gave them, so that few samples help and none can hurt much. Constants shared by boards stay.
/// Every sample counts as one of `device`; `source` tells which files they are from.
/// Errors: no sample of a family that can be fitted; none that is plausible; all of one shape.
[[nodiscard]] Result<BoardFit> fit_board(const std::vector<Sample>& samples, Device device, const KernelConstants& constants,
                                         const std::string& source);

/// What identifies samples: timing, libraries, clocks, drivers and dates that they name.
[[nodiscard]] std::string identity(const std::vector<const Sample*>& samples);

}  // namespace tbdsim::calibrate
