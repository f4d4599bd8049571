#include "calibrate/fit/board_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "calibrate/fit/carry_over.hpp"
#include "calibrate/fit/plausible.hpp"
#include "calibrate/fit/prediction.hpp"
#include "calibrate/fit/unused.hpp"
#include "model/cost/transfer.hpp"

namespace tbdsim::calibrate {
namespace {

// Least doubt of values fitted to other samples of this very board: another clock state, another library.
constexpr double kOwnSigma = 0.08;
constexpr double kOwnLaunchSigma = 0.5, kCallSigma = 0.7;
// How far the share of peak that power sustains lies from what relatives tell (five boards, each from the others: 0.05 to 0.2);
// the bandwidth of quantising passes (three boards, by a factor of 2.6).
constexpr double kSustainedSigma = 0.2, kQuantizeSigma = 0.7;

std::string shape_of(const Sample& sample) {
  std::string text = sample.op + sample.pass;
  for (const auto& [key, value] : sample.shape) text += fmt::format(";{}={}", key, value);
  return text;
}

/// Samples of one family and class of arithmetic; one observation a sample until `merge`.
struct Group {
  const FitFamily* family = nullptr;
  std::string precision;
  std::vector<const Sample*> samples;
  std::vector<Observation> rows;
  std::vector<FormConstants> forms;

  [[nodiscard]] std::size_t shapes() const {
    std::set<std::string> distinct;
    for (const Sample* sample : samples) distinct.insert(shape_of(*sample));
    return distinct.size();
  }
  /// What was measured again and again under the same conditions says one thing: its median time.
  void merge() {
    std::map<std::string, std::vector<std::size_t>> repeated;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Sample& s = *samples[i];
      repeated[fmt::format("{};{};{};{};{};{};{};{}", shape_of(s), s.family, s.precision, s.algorithm, rows[i].generation,
                           s.call_timing, s.flagged("hot"), rows[i].shapes_before)]
          .push_back(i);
    }
    std::vector<bool> first(rows.size(), false);
    for (auto& [conditions, places] : repeated) {
      std::vector<Seconds> times;
      for (const std::size_t i : places) times.push_back(rows[i].time);
      std::sort(times.begin(), times.end());
      const std::size_t half = times.size() / 2;
      rows[places.front()].time = times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2.0;
      first[places.front()] = true;
    }
    std::vector<const Sample*> all = std::move(samples);
    samples = all;
    keep(first);
    samples = std::move(all);
  }
  void keep(const std::vector<bool>& kept) {
    Group left{family, precision, {}, {}, {}};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!kept[i]) continue;
      left.samples.push_back(samples[i]);
      left.rows.push_back(rows[i]);
      left.forms.push_back(forms[i]);
    }
    *this = std::move(left);
  }
  [[nodiscard]] bool counts_shapes() const {
    return std::any_of(rows.begin(), rows.end(), [](const Observation& row) { return row.shapes_before > 0.0; });
  }
  [[nodiscard]] bool quantizes() const {
    return std::any_of(rows.begin(), rows.end(), [](const Observation& row) { return row.quantizes; });
  }
  [[nodiscard]] bool has(bool call) const {
    return std::any_of(rows.begin(), rows.end(), [&](const Observation& row) { return row.call == call; });
  }
};

std::vector<Group> groups_of(const std::vector<Sample>& samples, const Device& device, const KernelConstants& constants) {
  std::vector<Group> groups;
  for (const FitFamily& family : fit_families()) {
    std::map<std::string, Group> by_precision;
    for (const Sample& sample : samples) {
      if (family_of_samples(sample.family) != &family) continue;
      auto row = family.observe(sample);
      if (!row) continue;
      Group& group = by_precision[row->precision];
      group.family = &family;
      group.precision = row->precision;
      group.samples.push_back(&sample);
      group.forms.push_back(family.form(*row, constants, device));
      group.rows.push_back(std::move(*row));
    }
    for (auto& [precision, group] : by_precision) groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<double> residuals_of(const Group& group, const Device& device, const FamilyParameters& parameters) {
  std::vector<double> result;
  for (std::size_t i = 0; i < group.rows.size(); ++i)
    result.push_back(
        std::log(group.rows[i].time / predicted_time(*group.family, group.rows[i], group.forms[i], device, parameters)));
  return result;
}

/// Unknowns of a board: share of peak, share of bandwidth, launch; overhead, floor and growth of single calls.
std::vector<Unknown> unknowns_of(const Group& group, const FamilyParameters& inherited, bool own) {
  const auto sigma = [&](double stated, double least) { return own ? std::max(stated, least) : stated; };
  const CallTimes call = inherited.call.value_or(kCallTimes);
  const double compute = group.family->computes ? sigma(inherited.compute_sigma, kOwnSigma) : 0.0;
  return {{"compute", inherited.compute_efficiency, compute},
          {"bandwidth", inherited.bandwidth_efficiency, group.family->issues ? 0.0 : sigma(inherited.bandwidth_sigma, kOwnSigma)},
          {"launch", std::max(inherited.launch.base(), 1e-6),
           group.has(false) ? sigma(inherited.launch_sigma, kOwnLaunchSigma) : 0.0},
          {"call", call.overhead.base(), group.has(true) ? kCallSigma : 0.0},
          {"call floor", call.floor.base(), group.has(true) ? kCallSigma : 0.0},
          {"call per shape", call.per_shape > Seconds(0.0) ? call.per_shape.base() : kCallTimes.per_shape.base(),
           group.counts_shapes() ? kCallSigma : 0.0},
          {"sustained", inherited.sustained_efficiency.value_or(1.0),
           inherited.sustained_efficiency ? sigma(kSustainedSigma, kOwnSigma) : 0.0},
          {"quantize", inherited.quantize_bandwidth.value_or(1.0),
           inherited.quantize_bandwidth && group.quantizes() ? kQuantizeSigma : 0.0}};
}

FamilyParameters with_values(FamilyParameters parameters, std::span<const double> values, const Group& group) {
  parameters.compute_efficiency = values[0];
  parameters.bandwidth_efficiency = values[1];
  parameters.launch = Seconds(values[2]);
  if (parameters.sustained_efficiency) parameters.sustained_efficiency = values[6];
  if (parameters.quantize_bandwidth) parameters.quantize_bandwidth = values[7];
  if (group.has(true))
    parameters.call = CallTimes{Seconds(values[3]), Seconds(values[4]), Seconds(group.counts_shapes() ? values[5] : 0.0)};
  return parameters;
}

constexpr double kNoise = 0.05;
constexpr int kIterations = 60;

/// Scale of a Laplace distribution with the relatives' spread: what one sample may say against the prior.
double believed_scatter(const FamilyParameters& inherited) {
  constexpr double kLeast = 0.1;
  return std::max(kLeast, inherited.spread / std::sqrt(2.0));
}

FamilyParameters fit_group(const Group& group, const Device& device, const ResolvedParameters& inherited,
                           const std::string& source, BoardFitReport& report) {
  FamilyParameters start = inherited.parameters;
  start.samples = static_cast<int>(group.samples.size());
  const RobustFit fit = robust_fit(
      unknowns_of(group, inherited.parameters, !inherited.transferred), group.rows.size(),
      [&](std::span<const double> values, std::size_t i) {
        const FamilyParameters p = with_values(start, values, group);
        return std::log(group.rows[i].time / predicted_time(*group.family, group.rows[i], group.forms[i], device, p));
      },
      {}, kNoise, kIterations, believed_scatter(inherited.parameters));
  std::vector<double> values;
  for (const FittedValue& value : fit.values) values.push_back(value.value);
  FamilyParameters result = with_values(start, values, group);
  result.family = group.family->name;
  result.precision = group.precision;
  result.compute_sigma = fit.values[0].sigma;
  result.bandwidth_sigma = fit.values[1].sigma;
  result.launch_sigma = fit.values[2].sigma;
  report.after = summarize_residuals(fit.residuals);
  // Few residuals understate the scatter: the relatives' counts as ten more.
  constexpr double kBelieved = 10.0;
  const double n = report.after.n, inherited_spread = inherited.parameters.spread;
  result.spread = std::sqrt((n * report.after.spread * report.after.spread + kBelieved * inherited_spread * inherited_spread) /
                            (n + kBelieved));
  result.source = fmt::format("fitted: {} samples of {} shapes, {}; {}; before: {}", report.samples, report.shapes, source,
                              identity(group.samples), inherited.parameters.source);
  return result;
}

/// A prior that fits the samples better than the fit does, by more than the error of their mean: what they are, or how they were
/// timed, is in doubt.
void check_gain(const BoardFitReport& report, FamilyParameters& parameters, std::vector<std::string>& warnings) {
  constexpr double kShown = 0.0005;  // smaller differences are not printed
  const double of_the_mean = report.after.spread / std::sqrt(std::max(1.0, static_cast<double>(report.after.n)));
  if (report.after.mean <= report.before.mean + std::max(kShown, of_the_mean)) return;
  const std::string worse = fmt::format("the fit is worse than what it began with: mean error {:.1f} % before, {:.1f} % after",
                                        100 * report.before.mean, 100 * report.after.mean);
  warnings.push_back(fmt::format("{} {}: {}; check that the samples are of one device, one library and one way of timing",
                                 report.family, report.precision, worse));
  parameters.source += "; " + worse;
}

/// What a group would use without its samples. Issued instructions lie on top of bytes that are moved as in elementwise kernels,
/// whose samples tell that better than those of batch norm do.
ResolvedParameters inherited_by(const Group& group, const std::vector<FittedFamily>& fitted, const Device& device,
                                const KernelConstants& constants) {
  ResolvedParameters result = parameters_of(*group.family, device, group.precision, constants);
  if (!group.family->issues) return result;
  for (const FittedFamily& f : fitted) {
    if (f.after.family != "memory_bound") continue;
    result.parameters.bandwidth_efficiency = f.after.bandwidth_efficiency;
    result.parameters.bandwidth_sigma = f.after.bandwidth_sigma;
    result.parameters.launch = f.after.launch;
  }
  return result;
}

/// What is said of arithmetic that the board's description has no rate for.
std::string without_rate(const Group& group, const Device& device) {
  return fmt::format(
      "{} {}: {} sample{} (from row {}) left out: {} has no rate of {}; check the device of the samples, or state {}",
      group.family->name, group.precision, group.samples.size(), group.samples.size() == 1 ? "" : "s",
      group.samples.front()->line, device.id, group.precision, rate_key(group.precision));
}

/// Shares that no board can have are cut to what one may, and the range covers what the cut leaves. Boards that boost past their
/// data sheet come to 1.23 of its peak at most (hardware/kernels.toml), and device files take up to 2.
void cut_to_possible(const Group& group, const Device& device, FamilyParameters& p, BoardFitReport& report,
                     std::vector<std::string>& warnings) {
  constexpr double kMostShare = 1.5;
  // No memory exceeds its rate; a tenth is assumed for what caches add.
  constexpr double kMostBandwidth = 1.1;
  if (p.bandwidth_efficiency <= kMostShare && p.bandwidth_efficiency * std::exp(-2.0 * p.bandwidth_sigma) > kMostBandwidth)
    warnings.push_back(fmt::format("{} {}: the samples ask for {:.3g} of bandwidth, more than there is; check times and device",
                                   p.family, p.precision, p.bandwidth_efficiency));
  if (std::max(p.compute_efficiency, p.bandwidth_efficiency) <= kMostShare) return;
  const std::string needed = fmt::format("{:.3g} of peak and {:.3g} of bandwidth", p.compute_efficiency, p.bandwidth_efficiency);
  p.compute_efficiency = std::min(p.compute_efficiency, kMostShare);
  p.bandwidth_efficiency = std::min(p.bandwidth_efficiency, kMostShare);
  const std::vector<double> left = residuals_of(group, device, p);
  report.after = summarize_residuals(left);
  double sum = 0.0;
  for (const double residual : left) sum += residual * residual;
  constexpr double kMostSpread = 2.0;  // that a device file takes
  p.spread = std::min(kMostSpread, std::max(p.spread, std::sqrt(sum / static_cast<double>(left.size()))));
  warnings.push_back(
      fmt::format("{} {}: the samples would need {}, more than any board has: cut to {:g}, with a range as wide as what is left; "
                  "check times, "
                  "shapes, device and whether the kernels do this family's work",
                  p.family, p.precision, needed, kMostShare));
}

/// Names the samples that the fitted form misses by more than a factor of two, the worst first.
void name_unreached(const Group& group, const Device& device, const FamilyParameters& p, std::vector<std::string>& warnings) {
  constexpr std::size_t kMost = 5;
  std::vector<std::pair<double, int>> missed;
  const std::vector<double> residuals = residuals_of(group, device, p);
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    if (std::abs(residuals[i]) > std::log(2.0)) missed.emplace_back(residuals[i], group.rows[i].line);
  }
  if (missed.empty()) return;
  std::stable_sort(missed.begin(), missed.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  std::string rows;
  for (std::size_t i = 0; i < std::min(kMost, missed.size()); ++i)
    rows += fmt::format("{}row {} takes {:.2g} times as long", i == 0 ? "" : ", ", missed[i].second, std::exp(missed[i].first));
  if (missed.size() > kMost) rows += fmt::format(" and {} more", missed.size() - kMost);
  warnings.push_back(fmt::format("{} {}: {} of {} shapes are beyond the form by more than a factor of two: {}", p.family,
                                 p.precision, missed.size(), residuals.size(), rows));
}

/// Puts `parameters` in the place of those of the same family and arithmetic, or at the end.
void replace(std::vector<FamilyParameters>& all, FamilyParameters parameters) {
  const auto same = std::find_if(all.begin(), all.end(), [&](const FamilyParameters& p) {
    return p.family == parameters.family && p.precision == parameters.precision;
  });
  if (same == all.end())
    all.push_back(std::move(parameters));
  else
    *same = std::move(parameters);
}

/// Why no family could be fitted to `samples`: of `total` rows `implausible` ones were left out, and no family has more than
/// `most_shapes` shapes.
Errors why_none(const std::vector<Sample>& samples, const std::vector<std::string>& warnings, std::size_t total,
                std::size_t implausible, std::size_t most_shapes) {
  Errors errors;
  for (const std::string& warning : warnings) errors.push_back({warning});
  for (const UnusedSamples& unused : unused_samples(samples)) errors.push_back({to_text(unused)});
  if (total == 0) return errors;
  if (most_shapes >= kFewestShapes && implausible < total)
    errors.push_back({"no family is left that a fit can describe"});
  else if (implausible == total)
    errors.push_back({"no plausible sample is left"});
  else
    errors.push_back(
        {fmt::format("all samples of a family have {} shape{}: at least {} are needed to tell arithmetic, bandwidth and "
                     "launch apart",
                     most_shapes, most_shapes == 1 ? "" : "s", kFewestShapes)});
  return errors;
}

/// What a group with too few shapes has instead of a fit.
std::string too_few(const Group& group, std::size_t shapes, const ResolvedParameters& inherited) {
  return fmt::format("{} {}: {} shape{} too few to fit, {} needed; {}", group.family->name, group.precision, shapes,
                     shapes == 1 ? " is" : "s are", kFewestShapes, inherited.parameters.source);
}

/// What the families without samples, those not in `done`, have instead.
void name_inherited(const Device& device, const KernelConstants& constants, const std::set<std::string>& done, BoardFit& out) {
  for (const FitFamily& family : fit_families()) {
    if (done.count(std::string(family.name)) != 0) continue;
    const auto inherited = parameters_of(family, device, family.issues ? "fp16" : "fp32", constants);
    out.inherited.push_back(fmt::format("{}: no samples; {}", family.name, inherited.parameters.source));
  }
}

std::string joined(const std::set<std::string>& words) { return fmt::format("{}", fmt::join(words, " | ")); }

}  // namespace

std::string identity(const std::vector<const Sample*>& samples) {
  std::set<std::string> timings, libraries, drivers, dates;
  double least = INFINITY, most = 0.0;
  for (const Sample* sample : samples) {
    timings.insert(sample->call_timing ? "single calls" : "device times");
    if (!sample->library.empty()) libraries.insert(sample->library);
    if (!sample->driver.empty()) drivers.insert(sample->driver);
    if (!sample->date.empty()) dates.insert(sample->date);
    if (sample->clock) {
      least = std::min(least, sample->clock->base());
      most = std::max(most, sample->clock->base());
    }
  }
  std::string text = joined(timings);
  text += libraries.empty() ? "; library not stated" : "; " + joined(libraries);
  if (!drivers.empty()) text += "; driver " + joined(drivers);
  text += most == 0.0 ? "; clock not stated" : fmt::format("; clock {:.0f} to {:.0f} MHz", least / 1e6, most / 1e6);
  if (!dates.empty()) text += fmt::format("; {} to {}", *dates.begin(), *dates.rbegin());
  return text;
}

Result<BoardFit> fit_board(const std::vector<Sample>& samples, Device device, const KernelConstants& constants,
                           const std::string& source) {
  BoardFit out;
  out.sustained = sustained_rates_of(samples);
  state_clock(device, out.sustained, true);
  std::vector<Group> groups = groups_of(samples, device, constants);
  if (groups.empty()) {
    Errors errors{{"no sample is of a family and shape that can be fitted"}};
    for (const UnusedSamples& unused : unused_samples(samples)) errors.push_back({to_text(unused)});
    return tl::make_unexpected(std::move(errors));
  }
  // Until all are fitted, the device keeps the parameters that it came with.
  std::vector<FittedFamily> fitted;
  std::size_t implausible = 0, total = 0, most_shapes = 0;
  std::set<std::string> done;
  for (Group& group : groups) {
    if (group.family->computes && !has_rate(device, group.precision)) {
      out.warnings.push_back(without_rate(group, device));
      continue;
    }
    const Plausibility plausible = judge(group.rows, device);
    for (const std::string& warning : plausible.warnings)
      out.warnings.push_back(fmt::format("{} {}: {}", group.family->name, group.precision, warning));
    total += group.rows.size();
    group.keep(plausible.kept);
    implausible += plausible.kept.size() - group.rows.size();
    const std::size_t shapes = group.shapes();
    most_shapes = std::max(most_shapes, shapes);
    const int counted = static_cast<int>(group.samples.size());
    group.merge();
    const ResolvedParameters inherited = inherited_by(group, fitted, device, constants);
    if (shapes < kFewestShapes) {
      out.inherited.push_back(too_few(group, shapes, inherited));
      continue;
    }
    BoardFitReport report{std::string(group.family->name),
                          group.precision,
                          counted,
                          static_cast<int>(shapes),
                          summarize_residuals(residuals_of(group, device, inherited.parameters)),
                          {}};
    FamilyParameters found = fit_group(group, device, inherited, source, report);
    cut_to_possible(group, device, found, report, out.warnings);
    name_unreached(group, device, found, out.warnings);
    fitted.push_back({inherited.parameters, std::move(found), inherited.transferred, group.family->computes});
    check_gain(report, fitted.back().after, out.warnings);
    out.reports.push_back(report);
    done.insert(report.family);
  }
  if (fitted.empty()) return tl::make_unexpected(why_none(samples, out.warnings, total, implausible, most_shapes));
  for (FamilyParameters& parameters : carried_over(fitted, device, constants))
    replace(device.calibration.families, at_sustained_rate(std::move(parameters), out.sustained));
  state_clock(device, out.sustained, false);
  name_inherited(device, constants, done, out);
  out.device = std::move(device);
  for (FittedFamily& family : fitted)
    replace(out.device.calibration.families, at_sustained_rate(std::move(family.after), out.sustained));
  if (!out.sustained.empty()) out.device.calibration.measured = clock_limits(out.device);
  return out;
}

}  // namespace tbdsim::calibrate
