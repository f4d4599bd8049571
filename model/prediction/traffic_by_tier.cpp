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
    std::map<std::size_t, TierTraffic> passed;
    const auto pass = [&](const std::vector<TierShare>& shares, Bytes bytes) {
      if (bytes <= Bytes(0.0)) return;
      for (const TierShare& tier : shares)
        passed.try_emplace(tier.depth, TierTraffic{tier.tier, Bytes(0.0), tier.capacity, tier.network}).first->second.bytes +=
            tier.share * bytes;
    };
    pass(tier_shares(places, configuration.layout, traffic.axis, choice ? &*choice : nullptr),
         traffic.bytes - traffic.of_experts);
    pass(expert_array_shares(places, configuration.layout), traffic.of_experts);
    for (auto& [depth, tier] : passed) {
      if (tier.network) busy[tier.tier] += tier.bytes / tier.capacity;
      traffic.tiers.push_back(std::move(tier));
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
