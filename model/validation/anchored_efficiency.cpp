#include "model/validation/anchored_efficiency.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

namespace tbdsim {
namespace {

constexpr int kSteps = 6;
constexpr double kClose = 1e-4, kFurthest = 20.0;

/// The factor that makes the prediction of `run` what was measured. Where something of the step does not scale, as a
/// parameter server's work, a secant step on the last two factors closes in.
std::optional<double> compute_scale(const Predictor& predictor, const MeasuredRun& run, const AssessedRow& row) {
  double scale = 1.0, error = time_error(row), last_scale = 0.0, last_error = 0.0;
  for (int step = 0; step < kSteps && std::abs(error) > kClose; ++step) {
    const double slope = step == 0 ? 1.0 + error : (error - last_error) / (scale - last_scale);
    last_scale = scale;
    last_error = error;
    scale -= error / slope;
    if (!(scale > 1.0 / kFurthest && scale < kFurthest)) return std::nullopt;
    PredictOptions options = run.options;
    options.compute_scale = scale;
    const Result<Prediction> prediction = predictor(options);
    const auto value = prediction ? metric_value(*prediction, run.metric) : std::nullopt;
    if (!value) return std::nullopt;
    AssessedRow scaled = row;
    scaled.row.predicted = value->value;
    error = time_error(scaled);
  }
  return std::abs(error) <= 10.0 * kClose ? std::optional(scale) : std::nullopt;
}

}  // namespace

void anchor_efficiency(const Predictor& predictor, const std::vector<MeasuredRun>& runs, std::vector<AssessedRow>& rows) {
  const auto singles = single_gpu_rows(rows);
  std::vector<std::size_t> ones;
  for (const auto& single : singles)
    if (single) ones.push_back(*single);
  std::sort(ones.begin(), ones.end());
  ones.erase(std::unique(ones.begin(), ones.end()), ones.end());
  std::vector<std::optional<double>> scales(rows.size());
  const auto fits = static_cast<std::ptrdiff_t>(ones.size()), count = static_cast<std::ptrdiff_t>(rows.size());
#pragma omp parallel for schedule(dynamic)
  for (std::ptrdiff_t i = 0; i < fits; ++i) {
    const std::size_t one = ones[static_cast<std::size_t>(i)];
    scales[one] = compute_scale(predictor, runs[one], rows[one]);
  }
#pragma omp parallel for schedule(dynamic)
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const auto slot = static_cast<std::size_t>(i);
    if (!singles[slot] || !scales[*singles[slot]]) continue;
    PredictOptions options = runs[slot].options;
    options.compute_scale = *scales[*singles[slot]];
    const Result<Prediction> prediction = predictor(options);
    const auto value = prediction ? metric_value(*prediction, rows[slot].row.metric) : std::nullopt;
    if (value) rows[slot].anchored = value->value;
  }
}

}  // namespace tbdsim
