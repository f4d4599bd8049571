#include "calibrate/cli/anchor_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "model/cost/uncertainty.hpp"
#include "model/validation/assess.hpp"

namespace tbdsim::calibrate {
namespace {

/// How far such parts of steps have been off without samples (calibrate/README.md, boards left out; host and exchange: published
/// steps and sweeps): standard deviation of the logarithm.
constexpr std::array<double, kAnchors.size()> kPrior{0.2, 0.3, 0.2, 0.3, 0.4};
constexpr double kLeastShare = 0.03;  ///< of a step, below which its time tells nothing of a part
constexpr double kProbe = 1.1;
/// Beyond so many standard deviations of its prior a multiplier hides another mistake.
constexpr double kPlausible = 2.0;
constexpr double kMissed = 0.25;  ///< of a step, after the fit

using Values = std::vector<double>;

/// Steps predicted with multipliers, remembered.
class Steps {
 public:
  Steps(const std::string& root, std::vector<MeasuredRun> runs) : session_(open_session({root})), runs_(std::move(runs)) {}

  [[nodiscard]] const std::vector<MeasuredRun>& runs() const { return runs_; }

  /// ln(measured / predicted) over time, row by row; nothing where a row cannot be predicted.
  const std::vector<std::optional<double>>& residuals(const Values& values) {
    const auto found = known_.find(values);
    if (found != known_.end()) return found->second;
    std::vector<MeasuredRun> changed = runs_;
    for (MeasuredRun& run : changed) {
      for (std::size_t i = 0; i < kAnchors.size(); ++i) {
        if (values[i] != 1.0) run.options.set.push_back(fmt::format("hw.device.{}={:.9g}", kAnchors[i].key, values[i]));
      }
    }
    std::vector<std::optional<double>> residuals;
    reasons_.clear();
    for (const RowAccuracy& row : assess(*session_, changed).rows) {
      const double sign = row.metric == "throughput" ? -1.0 : 1.0;
      reasons_.push_back(row.skipped);
      residuals.push_back(row.skipped.empty() ? std::optional(sign * std::log(row.measured / row.predicted)) : std::nullopt);
    }
    return known_.emplace(values, std::move(residuals)).first->second;
  }
  [[nodiscard]] const std::vector<std::string>& reasons() const { return reasons_; }  ///< of the latest prediction

 private:
  std::shared_ptr<Session> session_;
  std::vector<MeasuredRun> runs_;
  std::map<Values, std::vector<std::optional<double>>> known_;
  std::vector<std::string> reasons_;
};

/// Whether the row's own options state a multiplier that is to be fitted: those of another calibration, say.
bool states_multiplier(const MeasuredRun& run) {
  return std::any_of(run.options.set.begin(), run.options.set.end(), [](const std::string& assignment) {
    return std::any_of(kAnchors.begin(), kAnchors.end(),
                       [&](const auto& anchor) { return assignment.starts_with(fmt::format("hw.device.{}=", anchor.key)); });
  });
}

std::vector<MeasuredRun> steps_of(const std::vector<MeasuredRun>& runs, std::vector<std::string>& passed_over) {
  std::vector<MeasuredRun> steps;
  for (const MeasuredRun& run : runs) {
    if (run.metric != "step_time_s" && run.metric != "throughput")
      passed_over.push_back(fmt::format("{}: {} is no time of a step", run.id, run.metric));
    else if (states_multiplier(run))
      passed_over.push_back(fmt::format("{}: its options state a calibration already", run.id));
    else
      steps.push_back(run);
  }
  return steps;
}

std::vector<double> present(const std::vector<std::optional<double>>& residuals) {
  std::vector<double> values;
  for (const auto& residual : residuals) {
    if (residual) values.push_back(*residual);
  }
  return values;
}

void judge_values(AnchorFit& fit, const std::vector<std::optional<double>>& left, const std::vector<MeasuredRun>& runs) {
  for (std::size_t i = 0; i < kAnchors.size(); ++i) {
    const FittedAnchor& anchor = fit.file.anchors[i];
    const double most = kPlausible * kPrior[i];
    if (!anchor.fitted || std::abs(std::log(anchor.value)) <= most) continue;
    fit.implausible.push_back(
        fmt::format("{} {:.2f}: predictions of unmeasured boards have been within {:.2f} to {:.2f}; check the board, its clock "
                    "and power limit, the "
                    "precision and the stack of the runs",
                    kAnchors[i].name, anchor.value, std::exp(-most), std::exp(most)));
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double miss = left[i] ? std::exp(-*left[i]) - 1.0 : 0.0;
    if (std::abs(miss) > kMissed)
      fit.implausible.push_back(
          fmt::format("{}: still {:+.0f} % off in time; no multiplier of a part explains it", runs[i].id, 100 * miss));
  }
}

}  // namespace

Result<AnchorFit> fit_anchors(const std::string& catalogue_root, const std::vector<MeasuredRun>& runs) {
  AnchorFit fit;
  Steps steps(catalogue_root, steps_of(runs, fit.passed_over));
  const Values one(kAnchors.size(), 1.0);
  const auto first = steps.residuals(one);
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i])
      rows.push_back(i);
    else
      fit.passed_over.push_back(fmt::format("{}: {}", steps.runs()[i].id, steps.reasons()[i]));
  }
  if (rows.empty()) {
    Errors errors{{"calibrate anchor: no row is a step (step_time_s or throughput) that can be predicted"}};
    for (const std::string& reason : fit.passed_over) errors.push_back({reason});
    return tl::make_unexpected(std::move(errors));
  }
  fit.steps = static_cast<int>(rows.size());
  for (const std::size_t i : rows) {
    const std::string& hardware = steps.runs()[i].options.hardware;
    if (std::find(fit.hardware.begin(), fit.hardware.end(), hardware) == fit.hardware.end()) fit.hardware.push_back(hardware);
  }
  std::vector<Unknown> unknowns;
  for (std::size_t a = 0; a < kAnchors.size(); ++a) {
    Values probe = one;
    probe[a] = kProbe;
    const auto moved = steps.residuals(probe);
    for (const std::size_t i : rows) {
      if (moved[i]) fit.share[a] = std::max(fit.share[a], (*first[i] - *moved[i]) / std::log(kProbe));
    }
    // What no step shows is held.
    unknowns.push_back({std::string(kAnchors[a].name), 1.0, fit.share[a] >= kLeastShare ? kPrior[a] : 0.0, 0.1, 10.0});
  }
  constexpr double kNoise = 0.02, kScatter = 0.08;
  constexpr int kIterations = 20;
  const RobustFit found = robust_fit(
      unknowns, rows.size(),
      [&](std::span<const double> values, std::size_t i) {
        return steps.residuals(Values(values.begin(), values.end()))[rows[i]].value_or(0.0);
      },
      {}, kNoise, kIterations, kScatter);
  Values values;
  for (std::size_t a = 0; a < kAnchors.size(); ++a) {
    const FittedValue& value = found.values[a];
    values.push_back(value.value);
    const double factor = std::exp(kCentral80 * value.sigma);
    if (unknowns[a].prior_sigma > 0.0)
      fit.file.anchors[a] = {value.value, std::max(0.1, value.value / factor), std::min(10.0, value.value * factor), true};
  }
  fit.before = summarize_residuals(present(first));
  fit.after = summarize_residuals(found.residuals);
  judge_values(fit, steps.residuals(values), steps.runs());
  return fit;
}

}  // namespace tbdsim::calibrate
