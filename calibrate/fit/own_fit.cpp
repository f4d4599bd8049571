#include "calibrate/fit/own_fit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tbdsim::calibrate {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

std::string counted(std::size_t n) { return fmt::format("{} sample{}", n, n == 1 ? "" : "s"); }

/// `value(sample)` of those `kept` with the largest `key`; empty where there are none.
template <class Kept, class Value>
std::vector<double> of_largest(const std::vector<Sample>& samples, std::string_view key, const Kept& kept, const Value& value) {
  double largest = 0.0;
  for (const Sample& sample : samples) {
    if (kept(sample)) largest = std::max(largest, sample.at(key));
  }
  std::vector<double> values;
  for (const Sample& sample : samples) {
    if (kept(sample) && largest > 0.0 && sample.at(key) == largest) values.push_back(value(sample));
  }
  return values;
}

bool is_launch(const Sample& sample) { return sample.family == "launch" && sample.at("graph") == 0; }
bool is_copy(const Sample& sample, std::string_view kind) { return sample.family == "copy" && sample.kind == kind; }
bool is_overlap(const Sample& sample) { return sample.family == "overlap" && sample.kind == "all-reduce"; }

/// What no machine does. Assumed, as wide as a slip of the unit, a thousand, allows: plausible are launches of 0.1 us to 1 ms,
/// copies of 0.1 GB/s to 1 TB/s, and products that take up to ten times as long beside an all-reduce as alone.
constexpr double kLeastLaunch = 0.1e-6, kMostLaunch = 1e-3, kLeastCopy = 0.1e9, kMostCopy = 1e12, kMostBeside = 10.0;

std::string unlikely(std::string_view what, const std::string& told) {
  return fmt::format("{}: {}, which no machine does: time_s is in seconds; check times and shapes", what, told);
}

void fit_launch(const std::vector<Sample>& samples, OwnFit& out) {
  const auto times = of_largest(samples, "kernels", is_launch, [](const Sample& s) { return s.time.base() / s.at("kernels"); });
  if (times.empty()) return;
  if (median(times) < kLeastLaunch || median(times) > kMostLaunch) {
    out.missing.push_back(unlikely("launch", fmt::format("{:.3g} us a kernel", median(times) * 1e6)));
    return;
  }
  out.own.launch_interval = Seconds(median(times));
  out.lines.push_back(
      fmt::format("launch interval {:.3g} us ({} of the longest row)", median(times) * 1e6, counted(times.size())));
}

void fit_copies(const std::vector<Sample>& samples, OwnFit& out) {
  const std::pair<const char*, std::optional<BytesPerSecond> OwnMeasurements::*> kinds[] = {
      {"h2d-pinned", &OwnMeasurements::copy_to_device}, {"d2h-pinned", &OwnMeasurements::copy_to_host}};
  for (const auto& entry : kinds) {
    const char* const kind = entry.first;
    const auto rates = of_largest(
        samples, "bytes", [&](const Sample& s) { return is_copy(s, kind); },
        [](const Sample& s) { return s.at("bytes") / s.time.base(); });
    if (rates.empty()) continue;
    if (median(rates) < kLeastCopy || median(rates) > kMostCopy) {
      out.missing.push_back(unlikely("copy", fmt::format("{} at {:.3g} GB/s", kind, median(rates) / 1e9)));
      continue;
    }
    out.own.*entry.second = BytesPerSecond(median(rates));
    out.lines.push_back(
        fmt::format("{} copies {:.3g} GB/s ({} of the largest size)", kind, median(rates) / 1e9, counted(rates.size())));
  }
}

bool same_product(const Sample& a, const Sample& b) {
  return a.precision == b.precision && a.at("m") == b.at("m") && a.at("n") == b.at("n") && a.at("k") == b.at("k");
}

void fit_overlap(const std::vector<Sample>& samples, OwnFit& out) {
  std::vector<double> costs;
  std::size_t beside = 0;
  for (const Sample& sample : samples) {
    if (!is_overlap(sample)) continue;
    ++beside;
    std::vector<double> alone;
    for (const Sample& product : samples) {
      if (product.family == "gemm" && product.at("b") == 1 && same_product(product, sample)) alone.push_back(product.time.base());
    }
    if (!alone.empty()) costs.push_back(std::max(0.0, 1.0 - median(alone) / sample.time.base()));
  }
  if (costs.empty() && beside > 0)
    out.missing.push_back(
        fmt::format("overlap: {} beside an all-reduce, none of the same product alone (family gemm)", counted(beside)));
  if (costs.empty()) return;
  if (median(costs) > 1.0 - 1.0 / kMostBeside) {
    out.missing.push_back(unlikely("overlap", fmt::format("products take {:.3g} times as long beside an all-reduce as alone",
                                                          1.0 / std::max(1.0 - median(costs), 1e-9))));
    return;
  }
  out.own.overlap_cost = median(costs);
  out.lines.push_back(
      fmt::format("a second of all-reduce adds {:.3g} s to kernels beside it ({})", median(costs), counted(costs.size())));
}

}  // namespace

OwnFit fit_own(std::vector<Sample> samples, const Device& device, const OwnMeasurements& before, CollectiveForms& forms,
               const std::string& source) {
  std::erase_if(samples, [](const Sample& sample) { return sample.flagged(kHardwareSlowdown); });
  OwnFit out;
  out.own = before;
  fit_launch(samples, out);
  fit_copies(samples, out);
  fit_overlap(samples, out);
  if (const auto pace = fit_pace(samples, device, forms, out.missing)) {
    out.own.collective_pace = pace->pace;
    out.lines.push_back(
        fmt::format("collectives: latencies {:.3g} times those of the architecture (+-{:.1f} %); {}, mean error {:.1f} % before, "
                    "{:.1f} % after",
                    pace->pace, 100 * pace->sigma, counted(static_cast<std::size_t>(pace->samples)), 100 * pace->before.mean,
                    100 * pace->after.mean));
  }
  if (out.any()) out.own.source = "fitted: " + source;
  return out;
}

bool tells_own(const Sample& sample, const Device& device, CollectiveForms& forms) {
  if (sample.flagged(kHardwareSlowdown)) return false;
  return is_launch(sample) || is_copy(sample, "h2d-pinned") || is_copy(sample, "d2h-pinned") || is_overlap(sample) ||
         (sample.family == "collective" && forms.undescribed(sample, device).empty());
}

}  // namespace tbdsim::calibrate
