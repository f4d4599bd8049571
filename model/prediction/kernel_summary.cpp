#include "model/prediction/kernel_summary.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace tbdsim {
namespace {

/// The paper's tables list five kernels each.
constexpr std::size_t kListed = 5;

struct Gathered {
  KernelGroup group;
  Seconds executing, useful, resident;  ///< time x share of it
  std::array<Seconds, kStallCount> stalls;
  std::map<std::string, Seconds> bounds;
};

std::string longest(const std::map<std::string, Seconds>& times) {
  const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
  return std::max_element(times.begin(), times.end(), by_time)->first;
}

double share(Seconds part, Seconds whole) { return whole > Seconds(0.0) ? part / whole : 0.0; }

}  // namespace

KernelSummary summarize_kernels(const Prediction& prediction) {
  std::map<std::pair<std::string, std::string>, Gathered> gathered;
  KernelSummary summary;
  Seconds executing, useful, resident;
  std::array<Seconds, kStallCount> stalls;
  for (const KernelTime& kernel : prediction.detail.kernels) {
    Gathered& of_name = gathered[{kernel.name, kernel.algorithm}];
    of_name.group.name = kernel.name;
    of_name.group.algorithm = kernel.algorithm;
    of_name.group.launches += kernel.launches;
    of_name.group.time += kernel.time;
    of_name.executing += kernel.time * kernel.fp32_utilization;
    of_name.useful += kernel.time * kernel.useful_utilization;
    of_name.resident += kernel.time * kernel.occupancy;
    of_name.bounds[kernel.bound] += kernel.time;
    for (std::size_t i = 0; i < kStallCount; ++i) {
      of_name.stalls[i] += kernel.time * kernel.stalls[i];
      stalls[i] += kernel.time * kernel.stalls[i];
    }
    resident += kernel.time * kernel.occupancy;
    summary.time += kernel.time;
    executing += kernel.time * kernel.fp32_utilization;
    useful += kernel.time * kernel.useful_utilization;
  }
  summary.mean_fp32_utilization = share(executing, summary.time);
  summary.mean_useful_utilization = share(useful, summary.time);
  summary.mean_occupancy = share(resident, summary.time);
  for (std::size_t i = 0; i < kStallCount; ++i)
    summary.stalls.emplace_back(name(static_cast<Stall>(i)), share(stalls[i], summary.time));
  std::stable_sort(summary.stalls.begin(), summary.stalls.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (auto& [key, entry] : gathered) {
    entry.group.bound = longest(entry.bounds);
    for (std::size_t i = 0; i < kStallCount; ++i) entry.group.stalls[i] = share(entry.stalls[i], entry.group.time);
    entry.group.stall = name(largest_stall(entry.group.stalls));
    entry.group.occupancy = share(entry.resident, entry.group.time);
    entry.group.time_share = share(entry.group.time, summary.time);
    entry.group.fp32_utilization = share(entry.executing, entry.group.time);
    entry.group.useful_utilization = share(entry.useful, entry.group.time);
    summary.groups.push_back(std::move(entry.group));
  }
  std::stable_sort(summary.groups.begin(), summary.groups.end(),
                   [](const KernelGroup& a, const KernelGroup& b) { return a.time > b.time; });
  for (std::size_t i = 0; i < summary.groups.size(); ++i) {
    const bool below = summary.groups[i].fp32_utilization < summary.mean_fp32_utilization;
    std::vector<std::size_t>& list = below ? summary.long_below_mean : summary.long_above_mean;
    if (list.size() < kListed) list.push_back(i);
  }
  return summary;
}

}  // namespace tbdsim
