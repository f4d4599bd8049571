#pragma once
#include <map>
#include <string>
#include <vector>

#include "calibrate/fit/fit_family.hpp"
#include "calibrate/fit/kernel_fit.hpp"
#include "calibrate/fit/robust_fit.hpp"

namespace tbdsim::calibrate {

/// One sample against the prediction. Residuals are ln(measured / predicted).
struct AssessedRow {
  const Sample* sample = nullptr;
  std::size_t set = 0;      ///< which list of samples it is from
  std::string_view family;  ///< of the parameters
  std::string precision;
  Flop flop;
  Bytes bytes;
  Seconds measured, predicted;
  double sigma = 0.0;                                  ///< standard deviation of ln(measured / predicted) as stated
  double residual = 0.0, ideal = 0.0, roofline = 0.0;  ///< of the model, the ideal and the fitted roofline
  [[nodiscard]] bool inside() const;                   ///< the central 80 % as stated holds the measurement
};

/// Accuracy of a group of rows, with the baselines.
struct AssessedGroup {
  std::string set, device, family, precision, pass, size;  ///< empty: all
  ErrorSummary error;
  double coverage = 0.0;  ///< share of rows in their stated 80 % range
  double ideal_mean = 0.0, roofline_mean = 0.0;
};

/// Predictions of samples by the parameters that `constants` and the devices' own calibrations give. Samples of families that are
/// not fitted, shapes that no form describes and arithmetic that a device has no rate for are left out. The fitted roofline, t0 +
/// max(FLOP / (e peak), bytes / (eb bandwidth)), has its three constants per device, family and precision fitted to these very
/// samples.
[[nodiscard]] std::vector<AssessedRow> assess(const std::vector<Sample>& samples, const DeviceMap& devices,
                                              const KernelConstants& constants, std::size_t set = 0);

/// What tells groups apart.
struct GroupBy {
  bool set = false, device = false, pass = false, size = false;
};
/// Groups by family and precision and what `by` names, in order of first appearance. Sizes are decades of FLOP, of bytes where
/// a family does no arithmetic.
[[nodiscard]] std::vector<AssessedGroup> group_rows(const std::vector<AssessedRow>& rows, GroupBy by,
                                                    const std::vector<std::string>& set_names = {});
/// The rows with the largest errors, largest first.
[[nodiscard]] std::vector<AssessedRow> worst_rows(std::vector<AssessedRow> rows, std::size_t count = 10);

}  // namespace tbdsim::calibrate
