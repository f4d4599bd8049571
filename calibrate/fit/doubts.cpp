#include "calibrate/fit/doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "calibrate/fit/fit_family.hpp"
#include "calibrate/fit/plausible.hpp"

namespace tbdsim::calibrate {
namespace {

/// The layout that the form of a family has, as `collect` names it.
std::string_view layout_of_form(const Sample& sample) {
  const std::string& family = sample.family;
  if (family == "gemm" || family == "load" || family == "overlap") return "row-major";
  if (family == "rnn") return "sequence-major";
  if (family == "softmax" || family == "layer_norm") return "rows";
  return "nchw";
}

/// How often something was seen, and where first.
struct Seen {
  int samples = 0, line = 0;
  void count(const Sample& sample) {
    if (samples++ == 0) line = sample.line;
  }
};
using SeenBy = std::map<std::string, Seen>;

std::string rows(const Seen& seen) {
  return fmt::format("{} sample{} (from row {})", seen.samples, seen.samples == 1 ? "" : "s", seen.line);
}

/// What was run, whatever it took.
std::string work_of(const Sample& s) {
  std::string text = fmt::format("{};{};{};{};{};{};{};{};{};{};{}", s.device, s.family, s.op, s.precision, s.pass, s.kind,
                                 s.call_timing, s.algorithm, s.layout, s.library, s.flags);
  for (const auto& [key, value] : s.shape) text += fmt::format(";{}={}", key, value);
  return text;
}

std::string identity_of(const Sample& s) { return fmt::format("{};{:.17g};{};{}", work_of(s), s.time.base(), s.date, s.source); }

std::string repeated_rows(const std::vector<Sample>& samples, bool scored) {
  std::map<std::string, int> first;
  Seen seen;
  int original = 0;
  for (const Sample& sample : samples) {
    const auto [at, added] = first.try_emplace(identity_of(sample), sample.line);
    if (added) continue;
    if (seen.samples == 0) original = at->second;
    seen.count(sample);
  }
  if (seen.samples == 0) return {};
  return fmt::format("{} repeat{} another row, time included (the first: row {}): {}", rows(seen), seen.samples == 1 ? "s" : "",
                     original, scored ? "each is scored" : "they count once");
}

/// One shape, timed again under the same conditions, with times further apart than any noise.
std::string contradictions(const std::vector<Sample>& samples) {
  constexpr double kFarApart = 4.0;  // assumed: no repeated shape of the committed samples is so far apart
  std::map<std::string, std::pair<const Sample*, const Sample*>> extremes;
  for (const Sample& sample : samples) {
    const auto [at, added] = extremes.try_emplace(work_of(sample), &sample, &sample);
    if (added) continue;
    auto& [fastest, slowest] = at->second;
    if (sample.time < fastest->time) fastest = &sample;
    if (sample.time > slowest->time) slowest = &sample;
  }
  int shapes = 0;
  double worst = kFarApart;
  const std::pair<const Sample*, const Sample*>* shown = nullptr;
  for (const auto& [work, pair] : extremes) {
    const double factor = pair.second->time / pair.first->time;
    if (factor < kFarApart) continue;
    ++shapes;
    if (shown != nullptr && factor <= worst) continue;
    worst = factor;
    shown = &pair;
  }
  if (shown == nullptr) return {};
  return fmt::format(
      "{} shape{} measured again took {:g} times as long or more, though nothing else differs (the worst: rows {} and {}, "
      "{:.3g} and {:.3g} us): which is right?",
      shapes, shapes == 1 ? "" : "s", kFarApart, shown->first->line, shown->second->line, shown->first->time.base() * 1e6,
      shown->second->time.base() * 1e6);
}

/// How products are scaled, chosen or issued: what `collect` and the samples of boards since Ampere state.
bool known_product(const std::string& name) {
  constexpr std::string_view kKnown[] = {"", "heuristic", "per-tensor", "per-token", "block-128", "unfused"};
  return std::find(std::begin(kKnown), std::end(kKnown), name) != std::end(kKnown);
}

bool known_algorithm(const std::string& name) {
  constexpr std::string_view kKnown[] = {"winograd", "fft", "gemm", "direct", "algo_", "beside"};
  return name.empty() || std::any_of(std::begin(kKnown), std::end(kKnown),
                                     [&](std::string_view known) { return name.find(known) != std::string::npos; });
}

void ignored_words(const std::vector<Sample>& samples, const DeviceMap& devices, std::vector<std::string>& found) {
  Seen transposed;
  SeenBy layouts, algorithms, products, unnamed, matrix;
  for (const Sample& sample : samples) {
    const auto device = devices.find(sample.device);
    const bool amd = device != devices.end() && device->second.vendor == Vendor::amd;
    const bool computes = sample.family == "gemm" || sample.family == "conv" || sample.family == "rnn";
    if (sample.family == "gemm" && sample.at("ta") != 0) transposed.count(sample);
    if (!sample.layout.empty() && sample.layout != layout_of_form(sample))
      layouts[sample.family + " " + sample.layout].count(sample);
    if (sample.family == "conv" && !known_algorithm(sample.algorithm)) algorithms[sample.algorithm].count(sample);
    if (sample.family == "gemm" && !known_product(sample.algorithm)) products[sample.algorithm].count(sample);
    if (amd && computes && sample.library.empty()) unnamed[sample.device].count(sample);
    if (sample.flagged("matrix-cores") && (sample.precision != "fp32" || !amd))
      matrix[sample.device + " " + sample.precision].count(sample);
  }
  if (transposed.samples > 0)
    found.push_back(fmt::format("{} of gemm with ta=1: a transposed first operand costs nothing in the form", rows(transposed)));
  for (const auto& [what, seen] : layouts)
    found.push_back(fmt::format("{} with the layout of \"{}\": the form has another", rows(seen), what));
  for (const auto& [name, seen] : algorithms)
    found.push_back(
        fmt::format("{} of conv with the algorithm \"{}\", which no form knows: every algorithm may have run", rows(seen), name));
  for (const auto& [name, seen] : products)
    found.push_back(
        fmt::format("{} of gemm with the algorithm \"{}\": the form takes the tile that is fastest", rows(seen), name));
  for (const auto& [device, seen] : unnamed)
    found.push_back(fmt::format("{} of {} without a library: taken for cuDNN 7; name it, such as \"rocm 6.0; miopen 3.0\"",
                                rows(seen), device));
  for (const auto& [what, seen] : matrix)
    found.push_back(
        fmt::format("{} of {} with the flag matrix-cores, which only says something of fp32 on AMD boards", rows(seen), what));
}

/// Observations of one family and class of arithmetic of one device.
using Groups = std::map<std::tuple<std::string, std::string, std::string>, std::vector<Observation>>;
Groups observed(const std::vector<Sample>& samples, const DeviceMap& devices) {
  Groups groups;
  for (const Sample& sample : samples) {
    const FitFamily* const family = family_of_samples(sample.family);
    const auto device = devices.find(sample.device);
    if (family == nullptr || device == devices.end()) continue;
    auto row = family->observe(sample);
    if (!row || (family->computes && !has_rate(device->second, row->precision))) continue;
    groups[{sample.device, std::string(family->name), row->precision}].push_back(std::move(*row));
  }
  return groups;
}

/// Rows that are far too slow in seconds and plausible in milliseconds, among rows that are plausible in seconds.
void mixed_units(const Groups& groups, const DeviceMap& devices, std::vector<std::string>& found) {
  constexpr double kMilli = 1e-3;
  for (const auto& [key, rows_of] : groups) {
    const Device& device = devices.at(std::get<0>(key));
    const Plausibility seconds = judge(rows_of, device);
    std::vector<int> lines;
    std::size_t good = 0;
    for (std::size_t i = 0; i < rows_of.size(); ++i) {
      if (seconds.kept[i]) {
        ++good;
        continue;
      }
      Observation scaled = rows_of[i];
      scaled.time *= kMilli;
      const bool slow = rows_of[i].time > ideal_time(rows_of[i], device);
      if (slow && judge(std::span(&scaled, 1), device).kept.front()) lines.push_back(rows_of[i].line);
    }
    if (lines.empty() || good == 0) continue;
    found.push_back(fmt::format(
        "{} {} {}: two units in the column time_s? {} row{} (the first: {}) would be plausible in milliseconds, "
        "{} are in seconds",
        std::get<0>(key), std::get<1>(key), std::get<2>(key), lines.size(), lines.size() == 1 ? "" : "s", lines.front(), good));
  }
}

}  // namespace

std::vector<std::string> doubts(const std::vector<Sample>& samples, const DeviceMap& devices, bool scored) {
  std::vector<std::string> found;
  if (std::string repeated = repeated_rows(samples, scored); !repeated.empty()) found.push_back(std::move(repeated));
  if (std::string apart = contradictions(samples); !apart.empty()) found.push_back(std::move(apart));
  ignored_words(samples, devices, found);
  mixed_units(observed(samples, devices), devices, found);
  return found;
}

std::vector<std::string> implausible_samples(const std::vector<Sample>& samples, const DeviceMap& devices) {
  std::vector<std::string> found;
  for (const auto& [key, rows_of] : observed(samples, devices)) {
    const auto& [device, family, precision] = key;
    for (const std::string& warning : judge(rows_of, devices.at(device), "scored all the same").warnings)
      found.push_back(fmt::format("{} {}: {}", family, precision, warning));
  }
  return found;
}

}  // namespace tbdsim::calibrate
