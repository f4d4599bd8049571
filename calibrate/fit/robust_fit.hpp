#pragma once
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tbdsim::calibrate {

/// One unknown of a fit, positive, fitted in its logarithm.
struct Unknown {
  std::string name;
  double prior = 1.0;                 ///< value believed before seeing data; also the starting point
  double prior_sigma = 0.3;           ///< standard deviation of ln(value / prior); 0: held fixed
  double low = 0.0, high = INFINITY;  ///< physics: the fit stays within
};

struct FittedValue {
  double value = 1.0;
  double sigma = 0.0;     ///< standard deviation of its logarithm, from the curvature at the optimum
  bool at_bound = false;  ///< samples ask for more than physics allows
};

struct RobustFit {
  std::vector<FittedValue> values;  ///< in the order of the unknowns
  std::vector<double> residuals;    ///< ln(measured / predicted) per observation
  int iterations = 0;
};

/// ln(measured / predicted) of one observation for given values of the unknowns.
using ResidualFunction = std::function<double(std::span<const double> values, std::size_t observation)>;
/// Whether an observation depends on an unknown; those that do not are not evaluated again when it moves.
using DependsFunction = std::function<bool(std::size_t unknown, std::size_t observation)>;

/// Minimises the sum of |residual| (robust against kernels that the form cannot describe) plus the priors, by
/// iteratively reweighted Levenberg-Marquardt. Residuals below `noise` count as noise and weigh in units of `scatter`, so
/// that the priors weigh as stated (fitted boards: 0.1 to 0.3). Deterministic.
/// Expects at least one observation; unknowns without any influence keep their prior.
[[nodiscard]] RobustFit robust_fit(const std::vector<Unknown>& unknowns, std::size_t observations,
                                   const ResidualFunction& residual, const DependsFunction& depends = {}, double noise = 0.05,
                                   int max_iterations = 60, double scatter = 0.15);

/// Summary of residuals as errors over time, |predicted / measured - 1|.
struct ErrorSummary {
  int n = 0;
  double mean = 0, median = 0, signed_mean = 0;
  /// Half the width of the central 80 % of the residuals over 1.28: the standard deviation of a normal distribution
  /// with those quantiles.
  double spread = 0;
};
[[nodiscard]] ErrorSummary summarize_residuals(std::span<const double> residuals);

}  // namespace tbdsim::calibrate
