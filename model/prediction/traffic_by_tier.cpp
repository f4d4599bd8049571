#include "model/prediction/traffic_by_tier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/schedule/divided/tier_traffic.hpp"

namespace tbdsim {
namespace {

/// How tokens choose their experts, where these are sent a token once for each node.
std::optional<ExpertChoice> once_per_node(const Configuration& configuration) {
  if (configuration.stack.parallel.experts.dispatch != ExpertDispatch::once_per_node) return std::nullopt;
  const OpGraph& graph = configuration.network_graph().graph;
  for (const Op& op : graph.ops)
    if (op.kind == OpKind::route) return choice_of(graph, op);
  return std::nullopt;
}

}  // namespace

Seconds tell_tiers(const Configuration& configuration, std::vector<AxisTraffic>& communication) {
  const RankPlaces places{configuration.hardware(), configuration.devices, configuration.network, **configuration.nccl};
  const std::optional<ExpertChoice> choice = once_per_node(configuration);
  std::map<std::string, Seconds> busy;
  for (AxisTraffic& traffic : communication) {
    for (const TierShare& tier : tier_shares(places, configuration.layout, traffic.axis, choice ? &*choice : nullptr)) {
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
