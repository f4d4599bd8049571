#include "calibrate/fit/robust_fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "model/cost/uncertainty.hpp"

namespace tbdsim::calibrate {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

class Problem {
 public:
  Problem(const std::vector<Unknown>& unknowns, std::size_t observations, const ResidualFunction& residual,
          const DependsFunction& depends)
      : unknowns_(unknowns), observations_(observations), residual_(residual), depends_(depends) {}

  [[nodiscard]] VectorXd evaluate(const VectorXd& logs) const {
    const std::vector<double> values = exponentials(logs);
    VectorXd result(static_cast<Eigen::Index>(observations_));
    for (std::size_t row = 0; row < observations_; ++row) result[static_cast<Eigen::Index>(row)] = residual_(values, row);
    return result;
  }

  [[nodiscard]] MatrixXd jacobian(const VectorXd& logs, const VectorXd& at) const {
    constexpr double kStep = 1e-3;
    MatrixXd result = MatrixXd::Zero(at.size(), logs.size());
    for (std::size_t i = 0; i < unknowns_.size(); ++i) {
      if (unknowns_[i].prior_sigma == 0.0) continue;
      VectorXd moved = logs;
      const auto column = static_cast<Eigen::Index>(i);
      moved[column] += kStep;
      const std::vector<double> values = exponentials(moved);
      for (std::size_t row = 0; row < observations_; ++row) {
        if (depends_ && !depends_(i, row)) continue;
        const auto r = static_cast<Eigen::Index>(row);
        result(r, column) = (residual_(values, row) - at[r]) / kStep;
      }
    }
    return result;
  }

  [[nodiscard]] double prior_precision(Eigen::Index i) const {
    const double sigma = unknowns_[static_cast<std::size_t>(i)].prior_sigma;
    return sigma == 0.0 ? 1e12 : 1.0 / (sigma * sigma);
  }

 private:
  static std::vector<double> exponentials(const VectorXd& logs) {
    std::vector<double> values(static_cast<std::size_t>(logs.size()));
    for (Eigen::Index i = 0; i < logs.size(); ++i) values[static_cast<std::size_t>(i)] = std::exp(logs[i]);
    return values;
  }

  const std::vector<Unknown>& unknowns_;
  std::size_t observations_;
  const ResidualFunction& residual_;
  const DependsFunction& depends_;
};

double objective(const VectorXd& residuals, const VectorXd& offset, const VectorXd& precision, double noise, double scatter) {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < residuals.size(); ++i) sum += std::sqrt(residuals[i] * residuals[i] + noise * noise) - noise;
  return sum / scatter + 0.5 * (offset.array().square() * precision.array()).sum();
}

}  // namespace

RobustFit robust_fit(const std::vector<Unknown>& unknowns, std::size_t observations, const ResidualFunction& residual,
                     const DependsFunction& depends, double noise, int max_iterations, double scatter) {
  const Problem problem(unknowns, observations, residual, depends);
  const auto n = static_cast<Eigen::Index>(unknowns.size());
  VectorXd prior(n), precision(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    prior[i] = std::log(unknowns[static_cast<std::size_t>(i)].prior);
    precision[i] = problem.prior_precision(i);
  }
  VectorXd logs = prior;
  VectorXd current = problem.evaluate(logs);
  double best = objective(current, logs - prior, precision, noise, scatter);
  double damping = 1e-2;
  MatrixXd normal = MatrixXd::Identity(n, n);
  RobustFit fit;
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    fit.iterations = iteration + 1;
    const MatrixXd jacobian = problem.jacobian(logs, current);
    const VectorXd weight = (current.array().square() + noise * noise).sqrt().inverse() / scatter;
    normal = jacobian.transpose() * weight.asDiagonal() * jacobian;
    normal.diagonal() += precision;
    const VectorXd gradient = jacobian.transpose() * weight.asDiagonal() * current + precision.asDiagonal() * (logs - prior);
    bool improved = false;
    for (int attempt = 0; attempt < 8 && !improved; ++attempt) {
      MatrixXd damped = normal;
      damped.diagonal() *= 1.0 + damping;
      const VectorXd next = logs - damped.ldlt().solve(gradient);
      const VectorXd there = problem.evaluate(next);
      const double value = objective(there, next - prior, precision, noise, scatter);
      if (std::isfinite(value) && value < best) {
        improved = best - value > 1e-5 * best;
        logs = next;
        current = there;
        best = value;
        damping = std::max(damping * 0.3, 1e-6);
        if (!improved) break;
      } else {
        damping *= 4.0;
      }
    }
    if (!improved) break;
  }
  const MatrixXd covariance = normal.ldlt().solve(MatrixXd::Identity(n, n));
  for (Eigen::Index i = 0; i < n; ++i) fit.values.push_back({std::exp(logs[i]), std::sqrt(std::max(0.0, covariance(i, i)))});
  fit.residuals.assign(current.data(), current.data() + current.size());
  return fit;
}

ErrorSummary summarize_residuals(std::span<const double> residuals) {
  ErrorSummary result;
  if (residuals.empty()) return result;
  std::vector<double> absolute;
  for (const double residual : residuals) {
    const double error = std::exp(-residual) - 1.0;
    absolute.push_back(std::abs(error));
    result.mean += std::abs(error);
    result.signed_mean += error;
  }
  const auto n = static_cast<double>(residuals.size());
  std::sort(absolute.begin(), absolute.end());
  result.n = static_cast<int>(residuals.size());
  result.mean /= n;
  result.signed_mean /= n;
  result.median = absolute[absolute.size() / 2];
  std::vector<double> sorted(residuals.begin(), residuals.end());
  std::sort(sorted.begin(), sorted.end());
  const auto quantile = [&](double q) { return sorted[static_cast<std::size_t>(std::lround(q * (n - 1.0)))]; };
  result.spread = (quantile(0.9) - quantile(0.1)) / (2.0 * kCentral80);
  return result;
}

}  // namespace tbdsim::calibrate
