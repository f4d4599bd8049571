#include "calibrate/fit/collective_samples.hpp"

#include <fmt/format.h>

#include <cmath>
#include <tuple>

#include "model/cost/switched_collective.hpp"

namespace tbdsim::calibrate {
namespace {

constexpr std::string_view kFamily = "collective";
constexpr double kPaceSigma = 0.3;

/// The release in "NCCL 2.27.3" or "cuda 12.4; nccl 2.21"; empty where none is named.
std::string release_of(const std::string& library) {
  for (const char* word : {"NCCL ", "nccl "}) {
    const std::size_t at = library.find(word);
    if (at == std::string::npos) continue;
    const std::size_t begin = at + 5, end = library.find_first_not_of("0123456789.", begin);
    std::string text = library.substr(begin, end == std::string::npos ? end : end - begin);
    if (parse_nccl_version(text)) return text;
  }
  return {};
}

int ranks_of(const Sample& sample) { return static_cast<int>(sample.at("ranks")); }

SwitchedGroup group_of(const Sample& sample, const Device& device, const NcclLibrary& library, double pace) {
  const double links = device.nvlink_links.value_or(0);
  SwitchedGroup group{ranks_of(sample), links * device.nvlink_bandwidth.value_or(BytesPerSecond(0.0)), links, pace, {}};
  if (!sample.call_timing) return group;
  for (const NcclLaunch& launch : library.launches) {
    if (launch.name == "one-process") group.start = launch.base + group.ranks * launch.per_gpu;
  }
  return group;
}

/// Residuals of start + bytes / rate, fitted to the rows of one device, operation and number of ranks.
void fit_line(const std::vector<std::size_t>& places, std::vector<AssessedRow>& rows) {
  const std::vector<Unknown> unknowns{{"start", 1e-5, 2.0}, {"rate", 1e11, 2.0}};
  const RobustFit fit = robust_fit(unknowns, places.size(), [&](std::span<const double> v, std::size_t i) {
    const AssessedRow& row = rows[places[i]];
    return std::log(row.measured.base() / (v[0] + row.bytes.base() / v[1]));
  });
  for (std::size_t i = 0; i < places.size(); ++i) rows[places[i]].roofline = fit.residuals[i];
}

}  // namespace

const Result<NcclLibrary>& CollectiveForms::library(const Sample& sample, const Device& device) {
  const std::pair<std::string, std::string> key{release_of(sample.library), device.architecture};
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  return known_.emplace(key, load_nccl(root_, key.first, key.second)).first->second;
}

std::string CollectiveForms::undescribed(const Sample& sample, const Device& device) {
  if (!parse_collective(sample.op)) return fmt::format("no collective is called \"{}\"", sample.op);
  if (sample.at("nodes") > 1) return "between nodes the network decides, not the board";
  if (ranks_of(sample) < 2) return "one rank moves nothing";
  const auto& nccl = library(sample, device);
  if (!nccl) return nccl.error().front().message;
  const NcclSwitched* const costs = switched_costs(*nccl, device.architecture);
  if (costs == nullptr || device.nvlink_links.value_or(0) == 0)
    return "a pace is known of boards behind a switch alone, with NCCL 2.18 or newer; others take hardware/nccl.toml";
  return {};
}

Seconds CollectiveForms::time(const Sample& sample, const Device& device, double pace) {
  const NcclLibrary& nccl = *library(sample, device);
  const Bytes message(sample.at("bytes"));
  const auto ways = switched_methods(*switched_costs(nccl, device.architecture), nccl.release,
                                     group_of(sample, device, nccl, pace), *parse_collective(sample.op));
  return paced_time(chosen(ways, message).call, message);
}

double CollectiveForms::sigma(const Sample& sample, const Device& device) {
  return spread(*library(sample, device), 1, Bytes(sample.at("bytes")));
}

std::optional<PaceFit> fit_pace(const std::vector<Sample>& samples, const Device& device, CollectiveForms& forms,
                                std::vector<std::string>& missing) {
  // Assumed: a slip of the unit is a thousand; boxes left out lie 25 % off on the mean (B300, by its clock alone).
  constexpr double kMost = 30.0;
  std::vector<const Sample*> described;
  int unlikely = 0, first = 0;
  for (const Sample& sample : samples) {
    if (sample.family != kFamily || !forms.undescribed(sample, device).empty()) continue;
    const double factor = sample.time / forms.time(sample, device, 1.0);
    if (factor <= kMost && factor >= 1.0 / kMost) {
      described.push_back(&sample);
      continue;
    }
    if (unlikely++ == 0) first = sample.line;
  }
  if (unlikely > 0)
    missing.push_back(
        fmt::format("collective: {} sample{} (from row {}) more than {:g} times as fast or as slow as calls on this "
                    "architecture: time_s is in seconds; check times, bytes and ranks",
                    unlikely, unlikely == 1 ? "" : "s", first, kMost));
  if (described.empty()) return std::nullopt;
  const RobustFit fit = robust_fit({{"pace", 1.0, kPaceSigma}}, described.size(), [&](std::span<const double> v, std::size_t i) {
    return std::log(described[i]->time / forms.time(*described[i], device, v[0]));
  });
  std::vector<double> before;
  before.reserve(described.size());
  for (const Sample* sample : described) before.push_back(std::log(sample->time / forms.time(*sample, device, 1.0)));
  return PaceFit{fit.values[0].value, fit.values[0].sigma, static_cast<int>(described.size()), summarize_residuals(before),
                 summarize_residuals(fit.residuals)};
}

std::vector<AssessedRow> assess_collectives(const std::vector<Sample>& samples, const DeviceMap& devices, CollectiveForms& forms,
                                            std::size_t set) {
  std::vector<AssessedRow> rows;
  std::map<std::tuple<std::string, std::string, int>, std::vector<std::size_t>> groups;
  for (const Sample& sample : samples) {
    if (sample.family != kFamily) continue;
    const Device& device = devices.at(sample.device);
    if (!forms.undescribed(sample, device).empty()) continue;
    AssessedRow row;
    row.sample = &sample;
    row.set = set;
    row.family = kFamily;
    row.precision = sample.op;
    row.bytes = Bytes(sample.at("bytes"));
    row.measured = sample.time;
    row.predicted = forms.time(sample, device, device.calibration.own.collective_pace);
    row.sigma = forms.sigma(sample, device);
    row.residual = std::log(row.measured / row.predicted);
    const BytesPerSecond port = *device.nvlink_links * *device.nvlink_bandwidth;
    const Seconds wire = sent_share(*parse_collective(sample.op), ranks_of(sample)) * row.bytes / port;
    // An empty message has no ideal but its own time.
    row.ideal = wire > Seconds(0.0) ? std::log(row.measured / wire) : 0.0;
    groups[{sample.device, sample.op, ranks_of(sample)}].push_back(rows.size());
    rows.push_back(row);
  }
  for (const auto& [key, places] : groups) fit_line(places, rows);
  return rows;
}

}  // namespace tbdsim::calibrate
