#include "model/study/diagnose.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/configuration/configure.hpp"
#include "model/prediction/predict.hpp"
#include "model/study/slow_cause.hpp"

namespace tbdsim {
namespace {

/// A figure that somebody noted is worth no more than this, and neither is a prediction. Assumed.
constexpr double kLeastSpread = 0.03;
/// Causes that slow a job by less than this even at their worst are none. Assumed: the noise of a measured rate.
constexpr double kNoticed = 0.02;
/// Something that no cause in the list stands for: a tenth as frequent as a cause, as likely to slow a job by any factor up to
/// ten. Assumed, so that causes that are all far from the figure do not share the evidence among themselves.
const double kElse = 0.1 / std::log(10.0);
/// Part of a cause's weight that the amount has which comes nearest; the rest is the mean over its amounts. Assumed: what could
/// have been any amount is no worse an explanation than half of what could only be this.
constexpr double kBestAmount = 0.5;
/// Causes with at least this share of the first one's weight are told as equals: the frequencies are no better known. Assumed.
constexpr double kAlike = 0.8;
/// Steps between two predicted amounts.
constexpr int kSteps = 16;
/// Causes in the list carry at least this share of the evidence; the others are named.
constexpr double kWorthTelling = 0.005;

double log_time(const Prediction& prediction, const MeasuredSpeed& measured) {
  return -std::log(measured.slower_than(prediction));
}

double density(double deviation, double spread) {
  return std::exp(-0.5 * deviation * deviation / (spread * spread)) / (spread * std::sqrt(2.0 * M_PI));
}

PredictOptions with(const PredictOptions& options, const SlowChange& change) {
  PredictOptions changed = options;
  changed.set.insert(changed.set.end(), change.set.begin(), change.set.end());
  if (!change.stack.empty()) changed.stack = change.stack;
  return changed;
}

/// One cause at its amounts.
struct Trial {
  SlowCause cause;
  std::vector<std::optional<Prediction>> at;  ///< of each amount; absent: the job cannot be so
};

/// ln(predicted over measured step time) along the amounts of a cause, from none (if it has degrees) to the worst.
struct Course {
  std::vector<double> amounts, off;
};

Course course_of(const Trial& trial, const Prediction& base, const MeasuredSpeed& measured) {
  Course course;
  const auto& amounts = trial.cause.amounts;
  if (trial.cause.between && amounts.size() > 1) {
    course.amounts.push_back(1.0);
    course.off.push_back(log_time(base, measured));
  }
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (!trial.at[i]) continue;
    course.amounts.push_back(amounts[i]);
    course.off.push_back(log_time(*trial.at[i], measured));
  }
  return course;
}

/// The amount that comes nearest, and the mean density over the amounts that are noticed: whose ln(time) is above `noticed`.
struct Nearest {
  double amount = 1.0, distance = std::numeric_limits<double>::infinity(), sum = 0.0;
  int count = 0;

  void add(double at, double off, double noticed, double spread) {
    if (off < noticed) return;
    sum += density(off, spread);
    ++count;
    if (std::abs(off) >= distance) return;
    distance = std::abs(off);
    amount = at;
  }
};

Nearest nearest(const Course& course, const SlowCause& cause, double noticed, double spread) {
  Nearest found;
  found.add(course.amounts.front(), course.off.front(), noticed, spread);
  for (std::size_t i = 0; i + 1 < course.amounts.size(); ++i) {
    const int steps = cause.between ? kSteps : 1;
    for (int step = 1; step <= steps; ++step) {
      const double part = static_cast<double>(step) / steps;
      found.add(course.amounts[i] * std::pow(course.amounts[i + 1] / course.amounts[i], part),
                course.off[i] + part * (course.off[i + 1] - course.off[i]), noticed, spread);
    }
  }
  return found;
}

/// How the job would be with the amount of the cause that comes nearest; nothing: the cause is ruled out.
std::optional<DiagnosedCause> diagnosed(Session& session, const PredictOptions& options, const Prediction& base,
                                        const Trial& trial, const MeasuredSpeed& measured) {
  const Course course = course_of(trial, base, measured);
  if (course.off.empty()) return std::nullopt;
  const double spread = std::max(kLeastSpread, std::hypot(base.spread.row, base.job.gpus > 1 ? base.spread.exchange : 0.0));
  const Nearest best = nearest(course, trial.cause, log_time(base, measured) + kNoticed, spread);
  if (best.count == 0) return std::nullopt;

  const double weight =
      trial.cause.frequency * (kBestAmount * density(best.distance, spread) + (1.0 - kBestAmount) * best.sum / best.count);
  SlowChange change = trial.cause.change(best.amount);
  const auto prediction = predict(session, with(options, change));
  DiagnosedCause found{trial.cause.name,
                       trial.cause.text,
                       trial.cause.test,
                       {},
                       std::move(change.set),
                       std::move(change.stack),
                       {},
                       0.0,
                       false,
                       weight};
  if (!prediction) return std::nullopt;
  if (trial.cause.amount_text) found.amount = trial.cause.amount_text(best.amount);
  found.speed = measured.shown_of(*prediction);
  found.off = 1.0 / measured.slower_than(*prediction) - 1.0;
  const double shown = measured.shown * measured.value;
  found.in_range = found.speed.low <= shown && shown <= found.speed.high;
  return found;
}

}  // namespace

Result<Diagnosis> diagnose(Session& session, const PredictOptions& options, const Prediction& base, const std::string& text) {
  const auto measured = read_measured_speed(text, base);
  if (!measured) return tl::make_unexpected(measured.error());
  const auto configuration = configure(session, options);
  if (!configuration) return tl::make_unexpected(configuration.error());
  Diagnosis diagnosis{*measured, measured->shown_of(base), measured->slower_than(base), false, {}, 0, 0.0, {}};
  const double shown = measured->shown * measured->value;
  diagnosis.expected = diagnosis.predicted.low <= shown && shown <= diagnosis.predicted.high;
  // Causes make jobs slower.
  if (diagnosis.slower < 1.0 - kNoticed) return diagnosis;
  std::vector<Trial> trials;
  std::vector<std::pair<std::size_t, std::size_t>> points;
  for (SlowCause& cause : slow_causes(session, options, *configuration)) {
    for (std::size_t i = 0; i < cause.amounts.size(); ++i) points.emplace_back(trials.size(), i);
    trials.push_back({std::move(cause), {}});
    trials.back().at.resize(trials.back().cause.amounts.size());
  }
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < points.size(); ++i) {
    Trial& trial = trials[points[i].first];
    const std::size_t amount = points[i].second;
    if (auto prediction = predict(session, with(options, trial.cause.change(trial.cause.amounts[amount]))))
      trial.at[amount] = std::move(*prediction);
  }
  std::vector<std::optional<DiagnosedCause>> found(trials.size());
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < trials.size(); ++i) found[i] = diagnosed(session, options, base, trials[i], *measured);
  double all = kElse;
  for (const auto& cause : found) all += cause ? cause->weight : 0.0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const bool kept = found[i] && found[i]->weight >= kWorthTelling * all;
    if (!kept) {
      diagnosis.ruled_out.push_back(trials[i].cause.name);
      continue;
    }
    found[i]->weight /= all;
    diagnosis.causes.push_back(std::move(*found[i]));
  }
  diagnosis.unexplained = kElse / all;
  std::stable_sort(diagnosis.causes.begin(), diagnosis.causes.end(),
                   [](const DiagnosedCause& a, const DiagnosedCause& b) { return a.weight > b.weight; });
  for (const DiagnosedCause& cause : diagnosis.causes)
    diagnosis.alike += cause.weight >= kAlike * diagnosis.causes.front().weight;
  return diagnosis;
}

}  // namespace tbdsim
