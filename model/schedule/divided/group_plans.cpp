#include "model/schedule/divided/group_plans.hpp"

#include <algorithm>

namespace tbdsim {

GroupSpan span_of(const RankGroup& group, int per_node) {
  if (group.stride >= per_node) return {1, group.size, per_node};
  const int local = std::min(group.size, std::max(1, per_node / group.stride));
  return {local, (group.size + local - 1) / local, std::max(1, per_node / local)};
}

const GroupPlans::Planned& GroupPlans::planned(const RankGroup& group, CollectiveKind kind) {
  const auto [place, fresh] = plans_.try_emplace(Key{group, kind});
  Planned& result = place->second;
  if (!fresh) return result;
  const auto per_node = static_cast<int>(places_.devices.size());
  const GroupSpan span = span_of(group, per_node);
  CollectiveGroup members;
  for (int i = 0; i < span.local; ++i)
    members.devices.push_back(places_.devices[static_cast<std::size_t>(i * group.stride % per_node)]);
  members.nodes = span.nodes;
  result.leaves_node = span.nodes > 1;
  if (places_.network) {
    members.network = places_.network;
    members.network->bandwidth = (1.0 / span.sharing) * members.network->bandwidth;
    members.network->achieved = (1.0 / span.sharing) * members.network->achieved;
  }
  auto plan = plan_collective(places_.system, members, kind, places_.library);
  if (plan)
    result.plan = std::move(*plan);
  else
    errors_.insert(errors_.end(), plan.error().begin(), plan.error().end());
  return result;
}

GroupCall GroupPlans::call(const RankGroup& group, CollectiveKind kind, Bytes message) {
  if (group.size <= 1 || message <= Bytes(0.0)) return {};
  const Planned& known = planned(group, kind);
  if (known.plan.methods.empty()) return {};
  const CollectiveCall made = collective_call(known.plan, message);
  const double sms = std::max(1, places_.system.device.multiprocessors);
  return {made.time, sent_share(kind, group.size) * message, std::min(0.9, made.channels / sms), known.leaves_node};
}

GroupCall GroupPlans::call(Axis axis, CollectiveKind kind, Bytes message) { return call(group_of(layout_, axis), kind, message); }

GroupCall GroupPlans::hop(Bytes message) {
  RankGroup pair = group_of(layout_, Axis::pipeline);
  pair.size = std::min(pair.size, 2);
  return call(pair, CollectiveKind::send_receive, message);
}

GroupCall GroupPlans::within_data(int ranks, CollectiveKind kind, Bytes message) {
  const RankGroup all = group_of(layout_, Axis::data);
  return call({std::min(ranks, all.size), all.stride}, kind, message);
}

GroupCall GroupPlans::across_data(int ranks, CollectiveKind kind, Bytes message) {
  const RankGroup all = group_of(layout_, Axis::data);
  return call({all.size / ranks, all.stride * ranks}, kind, message);
}

GroupCall GroupPlans::expert_data(CollectiveKind kind, Bytes message) {
  return call({layout_.expert_data(), layout_.expert * layout_.expert_tensor}, kind, message);
}

}  // namespace tbdsim
