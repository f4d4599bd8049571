#include "calibrate/fit/assessment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "calibrate/fit/plausible.hpp"
#include "calibrate/fit/prediction.hpp"
#include "model/cost/transfer.hpp"
#include "model/cost/uncertainty.hpp"

namespace tbdsim::calibrate {
namespace {

/// What one family of one device resolves to; looked up once, not per sample.
class Parameters {
 public:
  Parameters(const DeviceMap& devices, const KernelConstants& constants) : devices_(devices), constants_(constants) {}
  const FamilyParameters& of(const std::string& device, const FitFamily& family, const std::string& precision) {
    auto [at, added] = known_.try_emplace({device, std::string(family.name), precision});
    if (added) at->second = parameters_of(family, devices_.at(device), precision, constants_).parameters;
    return at->second;
  }

 private:
  const DeviceMap& devices_;
  const KernelConstants& constants_;
  std::map<std::tuple<std::string, std::string, std::string>, FamilyParameters> known_;
};

/// Whether what single calls take was measured on this device's own host.
bool call_measured(const Device& device, const FitFamily& family, const std::string& precision,
                   const KernelConstants& constants) {
  const FamilyParameters* const own = device.calibration.find(family.name, precision);
  if (own != nullptr && own->call) return true;
  return std::any_of(constants.boards.begin(), constants.boards.end(), [&](const BoardParameters& board) {
    return board.device == device.id && board.parameters.family == family.name && board.parameters.call;
  });
}

using Key = std::tuple<std::string, std::string_view, std::string, bool>;

/// Residuals of the roofline with three constants, fitted to the rows of one device, family, precision and timing.
void fit_roofline(const std::vector<std::size_t>& places, const Device& device, std::vector<AssessedRow>& rows) {
  const AssessedRow& first = rows[places.front()];
  const double peak = peak_for(device, first.precision).base(), bandwidth = device.memory_bandwidth.base();
  const double start = first.sample->call_timing ? kCallTimes.overhead.base() : 8e-6;
  const std::vector<Unknown> unknowns{{"e", 0.7, 1.0}, {"eb", 0.7, 1.0}, {"t0", start, 1.0}};
  const RobustFit fit = robust_fit(unknowns, places.size(), [&](std::span<const double> v, std::size_t i) {
    const AssessedRow& row = rows[places[i]];
    const double time = v[2] + std::max(row.flop.base() / (v[0] * peak), row.bytes.base() / (v[1] * bandwidth));
    return std::log(row.measured.base() / time);
  });
  for (std::size_t i = 0; i < places.size(); ++i) rows[places[i]].roofline = fit.residuals[i];
}

double mean_error(const std::vector<double>& residuals) { return summarize_residuals(residuals).mean; }

std::string decade(const AssessedRow& row) {
  const bool bytes = row.flop.base() == 0.0;
  if (bytes && row.bytes.base() == 0.0) return "0 B";
  const double exponent = std::floor(std::log10(bytes ? row.bytes.base() : row.flop.base()));
  return fmt::format("1e{:.0f} {}", exponent, bytes ? "B" : "FLOP");
}

}  // namespace

bool AssessedRow::inside() const { return std::abs(residual) <= kCentral80 * sigma; }

std::vector<AssessedRow> assess(const std::vector<Sample>& samples, const DeviceMap& devices, const KernelConstants& constants,
                                std::size_t set) {
  std::vector<AssessedRow> rows;
  Parameters parameters(devices, constants);
  std::map<Key, std::vector<std::size_t>> groups;
  for (const Sample& sample : samples) {
    const FitFamily* family = family_of_samples(sample.family);
    const auto observation = family != nullptr ? family->observe(sample) : std::nullopt;
    if (!observation) continue;
    const Device& device = devices.at(sample.device);
    if (family->computes && !has_rate(device, observation->precision)) continue;
    const FamilyParameters& p = parameters.of(sample.device, *family, observation->precision);
    const FormConstants form = family->form(*observation, constants, device);
    AssessedRow row;
    row.sample = &sample;
    row.set = set;
    row.family = family->name;
    row.precision = observation->precision;
    row.flop = observation->flop;
    row.bytes = observation->bytes;
    row.measured = sample.time;
    const SamplePrediction prediction = predict_sample(*family, *observation, form, device, p);
    row.predicted = prediction.time;
    row.sigma =
        sample_sigma(*family, prediction, p, sample.call_timing && !call_measured(device, *family, p.precision, constants));
    if (const auto* attention = std::get_if<AttentionConstants>(&form); attention != nullptr && attention->borrowed)
      row.sigma = std::hypot(row.sigma, kBorrowedKernelSigma);
    row.residual = std::log(row.measured / row.predicted);
    row.ideal = std::log(row.measured / ideal_time(*observation, device));
    groups[{sample.device, row.family, row.precision, sample.call_timing}].push_back(rows.size());
    rows.push_back(row);
  }
  for (const auto& [key, places] : groups) fit_roofline(places, devices.at(std::get<0>(key)), rows);
  return rows;
}

std::vector<AssessedGroup> group_rows(const std::vector<AssessedRow>& rows, GroupBy by,
                                      const std::vector<std::string>& set_names) {
  std::vector<AssessedGroup> groups;
  std::vector<std::vector<const AssessedRow*>> members;
  std::map<std::string, std::size_t> places;
  for (const AssessedRow& row : rows) {
    AssessedGroup group;
    if (by.set && row.set < set_names.size()) group.set = set_names[row.set];
    if (by.device) group.device = row.sample->device;
    group.family = row.family;
    group.precision = row.precision;
    if (by.pass) group.pass = row.sample->pass;
    if (by.size) group.size = decade(row);
    const std::string key =
        fmt::format("{};{};{};{};{};{}", group.set, group.device, group.family, group.precision, group.pass, group.size);
    const auto [at, added] = places.try_emplace(key, groups.size());
    if (added) {
      groups.push_back(std::move(group));
      members.emplace_back();
    }
    members[at->second].push_back(&row);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<double> model, ideal, roofline;
    double inside = 0.0;
    for (const AssessedRow* row : members[g]) {
      model.push_back(row->residual);
      ideal.push_back(row->ideal);
      roofline.push_back(row->roofline);
      inside += row->inside() ? 1.0 : 0.0;
    }
    groups[g].error = summarize_residuals(model);
    groups[g].coverage = inside / static_cast<double>(members[g].size());
    groups[g].ideal_mean = mean_error(ideal);
    groups[g].roofline_mean = mean_error(roofline);
  }
  return groups;
}

std::vector<AssessedRow> worst_rows(std::vector<AssessedRow> rows, std::size_t count) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const AssessedRow& a, const AssessedRow& b) { return std::abs(a.residual) > std::abs(b.residual); });
  rows.resize(std::min(count, rows.size()));
  return rows;
}

}  // namespace tbdsim::calibrate
