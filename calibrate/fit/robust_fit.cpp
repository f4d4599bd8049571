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

  /// Unknowns within their bounds.
  [[nodiscard]] VectorXd bounded(VectorXd logs) const {
    for (Eigen::Index i = 0; i < logs.size(); ++i) {
      const Unknown& unknown = unknowns_[static_cast<std::size_t>(i)];
      logs[i] = std::clamp(logs[i], std::log(unknown.low), std::log(unknown.high));
    }
    return logs;
  }
  /// Whether an unknown lies on a bound that going down the gradient would pass.
  [[nodiscard]] bool held(const VectorXd& logs, const VectorXd& gradient, Eigen::Index i) const {
    const Unknown& unknown = unknowns_[static_cast<std::size_t>(i)];
    return (logs[i] <= std::log(unknown.low) && gradient[i] > 0.0) || (logs[i] >= std::log(unknown.high) && gradient[i] < 0.0);
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

/// One descent: Levenberg-Marquardt from `logs` until nothing improves.
class Descent {
 public:
  Descent(const Problem& problem, VectorXd prior, double noise, double scatter)
      : problem_(problem), prior_(std::move(prior)), precision_(prior_.size()), noise_(noise), scatter_(scatter) {
    for (Eigen::Index i = 0; i < prior_.size(); ++i) precision_[i] = problem_.prior_precision(i);
  }

  void start(VectorXd logs) {
    logs_ = std::move(logs);
    residuals_ = problem_.evaluate(logs_);
    best_ = value(residuals_, logs_);
    held_.assign(static_cast<std::size_t>(logs_.size()), false);
  }
  /// With `bounded`, what rests on a bound stays there, so that the others take the step that is best without it.
  void run(bool bounded, int max_iterations) {
    double damping = 1e-2;
    for (int iteration = 0; iteration < max_iterations; ++iteration) {
      ++iterations_;
      const MatrixXd jacobian = problem_.jacobian(logs_, residuals_);
      const VectorXd weight = (residuals_.array().square() + noise_ * noise_).sqrt().inverse() / scatter_;
      normal_ = jacobian.transpose() * weight.asDiagonal() * jacobian;
      normal_.diagonal() += precision_;
      VectorXd gradient = jacobian.transpose() * weight.asDiagonal() * residuals_ + precision_.asDiagonal() * (logs_ - prior_);
      if (bounded) hold(gradient);
      if (!step(gradient, bounded, damping)) break;
    }
  }
  [[nodiscard]] RobustFit result() const {
    const Eigen::Index n = logs_.size();
    const MatrixXd covariance = normal_.ldlt().solve(MatrixXd::Identity(n, n));
    RobustFit fit;
    fit.iterations = iterations_;
    for (Eigen::Index i = 0; i < n; ++i)
      fit.values.push_back({std::exp(logs_[i]), std::sqrt(std::max(0.0, covariance(i, i))), held_[static_cast<std::size_t>(i)]});
    fit.residuals.assign(residuals_.data(), residuals_.data() + residuals_.size());
    return fit;
  }
  [[nodiscard]] const VectorXd& logs() const { return logs_; }

 private:
  [[nodiscard]] double value(const VectorXd& residuals, const VectorXd& logs) const {
    return objective(residuals, logs - prior_, precision_, noise_, scatter_);
  }
  void hold(VectorXd& gradient) {
    for (Eigen::Index i = 0; i < logs_.size(); ++i) {
      const bool held = problem_.held(logs_, gradient, i);
      held_[static_cast<std::size_t>(i)] = held;
      if (!held) continue;
      gradient[i] = 0.0;
      normal_.row(i).setZero();
      normal_.col(i).setZero();
      normal_(i, i) = precision_[i];
    }
  }
  /// Whether a step was found that is worth another.
  bool step(const VectorXd& gradient, bool bounded, double& damping) {
    for (int attempt = 0; attempt < 8; ++attempt) {
      MatrixXd damped = normal_;
      damped.diagonal() *= 1.0 + damping;
      VectorXd next = logs_ - damped.ldlt().solve(gradient);
      if (bounded) next = problem_.bounded(std::move(next));
      const VectorXd there = problem_.evaluate(next);
      const double at = value(there, next);
      if (std::isfinite(at) && at < best_) {
        const bool worth = best_ - at > 1e-5 * best_;
        logs_ = std::move(next);
        residuals_ = there;
        best_ = at;
        damping = std::max(damping * 0.3, 1e-6);
        return worth;
      }
      damping *= 4.0;
    }
    return false;
  }

  const Problem& problem_;
  VectorXd prior_, precision_, logs_, residuals_;
  MatrixXd normal_;
  std::vector<bool> held_;
  double noise_, scatter_, best_ = 0.0;
  int iterations_ = 0;
};

}  // namespace

RobustFit robust_fit(const std::vector<Unknown>& unknowns, std::size_t observations, const ResidualFunction& residual,
                     const DependsFunction& depends, double noise, int max_iterations, double scatter) {
  const Problem problem(unknowns, observations, residual, depends);
  VectorXd prior(static_cast<Eigen::Index>(unknowns.size()));
  for (Eigen::Index i = 0; i < prior.size(); ++i) prior[i] = std::log(unknowns[static_cast<std::size_t>(i)].prior);
  Descent descent(problem, prior, noise, scatter);
  descent.start(prior);
  descent.run(false, max_iterations);
  // The samples alone decide, unless they ask for what physics does not allow: then again from the nearest that it does.
  const VectorXd within = problem.bounded(descent.logs());
  if (within != descent.logs()) {
    descent.start(within);
    descent.run(true, max_iterations);
  }
  return descent.result();
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
