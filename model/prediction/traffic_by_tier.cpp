#include "model/prediction/traffic_by_tier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/schedule/divided/tier_traffic.hpp"

namespace tbdsim {

Seconds tell_tiers(const Configuration& configuration, std::vector<AxisTraffic>& communication) {
  const RankPlaces places{configuration.hardware(), configuration.devices, configuration.network, **configuration.nccl};
  std::map<std::string, Seconds> busy;
  for (AxisTraffic& traffic : communication) {
    for (const TierShare& tier : tier_shares(places, configuration.layout, traffic.axis)) {
      traffic.tiers.push_back({tier.tier, tier.share * traffic.bytes, tier.capacity, tier.network});
      if (tier.network) busy[tier.tier] += traffic.tiers.back().bytes / tier.capacity;
    }
  }
  Seconds busiest(0.0);
  for (const auto& [tier, time] : busy) busiest = std::max(busiest, time);
  return busiest;
}

std::vector<LinkTraffic> links_by_tier(const Prediction& p) {
  std::vector<LinkTraffic> links;
  for (const AxisTraffic& traffic : p.division.communication)
    for (const TierTraffic& tier : traffic.tiers)
      links.push_back({fmt::format("{}, {}", name(traffic.axis), tier.tier), tier.capacity, tier.bytes,
                       std::min<double>(1.0, traffic.time / p.step_time.value),
                       std::min<double>(1.0, tier.bytes / tier.capacity / p.step_time.value)});
  return links;
}

}  // namespace tbdsim
