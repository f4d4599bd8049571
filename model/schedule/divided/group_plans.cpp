#include "model/schedule/divided/group_plans.hpp"

#include <algorithm>

namespace tbdsim {
namespace {

constexpr double kMostTaken = 0.9;

}  // namespace

GroupSpan span_of(const AxisGroup& group, int per_node) {
  if (group.stride >= per_node) return {1, group.size, per_node};
  const int local = std::min(group.size, std::max(1, per_node / group.stride));
  return {local, (group.size + local - 1) / local, std::max(1, per_node / local)};
}

AxisGroup expert_copies(const Layout& layout) { return {layout.expert_data(), layout.expert * layout.expert_tensor}; }

const GroupPlans::Planned& GroupPlans::planned(const AxisGroup& group, CollectiveKind kind) {
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
    if (span.nodes > 1) members.network->achieved = node_share(group, kind);
  }
  auto plan = plan_collective(places_.system, members, kind, places_.library);
  if (plan)
    result.plan = std::move(*plan);
  else
    for (const Error& error : plan.error()) tell(error);
  return result;
}

void GroupPlans::tell(const Error& error) {
  const bool told = std::any_of(errors_.begin(), errors_.end(), [&](const Error& each) { return each.message == error.message; });
  if (!told) errors_.push_back(error);
}

BytesPerSecond GroupPlans::node_share(const AxisGroup& group, CollectiveKind kind) const {
  const Network& network = *places_.network;
  const Fabric fabric = fabric_of(places_.system, network);
  const GroupReach way = reach(fabric, {group.stride, group.size, std::max(1, layout_.gpus() / group.size)});
  if (way.crossings.empty()) return network.achieved;
  const int local = span_of(group, static_cast<int>(places_.devices.size())).local;
  const BytesPerSecond rate = kind == CollectiveKind::send_receive ? way.pair(fabric)
                              : kind == CollectiveKind::all_to_all ? static_cast<double>(local) * way.exchange(group.size)
                                                                   : way.ring();
  return (1.0 / node_ports(places_.system, network)) * rate;
}

GroupCall GroupPlans::call(const AxisGroup& group, CollectiveKind kind, Bytes message) {
  if (group.size <= 1 || message <= Bytes(0.0)) return {};
  const Planned& known = planned(group, kind);
  if (known.plan.methods.empty()) return {};
  const CollectiveCall made = collective_call(known.plan, message);
  const double sms = std::max(1, places_.system.device.multiprocessors);
  const Bytes sent = sent_share(kind, group.size) * message;
  // A byte that is sent is read, one that arrives is written.
  const double memory = 2.0 * sent / (made.time * places_.system.device.memory_bandwidth);
  return {
      made.time, sent, {std::min(kMostTaken, made.channels / sms), std::min(kMostTaken, memory)}, known.leaves_node, Bytes(0.0)};
}

GroupCall GroupPlans::call(Axis axis, CollectiveKind kind, Bytes message) { return call(group_of(layout_, axis), kind, message); }

GroupCall GroupPlans::once_per_node(Bytes rows, const ExpertChoice& choice) {
  const AxisGroup all = group_of(layout_, Axis::expert);
  const GroupSpan span = span_of(all, static_cast<int>(places_.devices.size()));
  if (span.nodes == 1) return call(all, CollectiveKind::all_to_all, rows);
  const double copies = nodes_reached(choice, span.nodes) / static_cast<double>(choice.per_token);
  const GroupCall across = call({span.nodes, all.stride * span.local}, CollectiveKind::all_to_all, copies * rows);
  const GroupCall within = call({span.local, all.stride}, CollectiveKind::all_to_all, rows);
  GroupCall both = across.time > within.time ? across : within;
  const auto part = [&](const GroupCall& one) { return one.time / both.time * one.taken.memory; };
  if (both.time > Seconds(0.0)) both.taken.memory = std::min<double>(kMostTaken, part(across) + part(within));
  both.taken.sms = std::max(across.taken.sms, within.taken.sms);
  both.sent = across.sent + within.sent;
  both.leaves_node = true;
  return both;
}

StageHop GroupPlans::hop(Bytes rows, bool scatters) {
  AxisGroup pair = group_of(layout_, Axis::pipeline);
  pair.size = std::min(pair.size, 2);
  if (!scatters || layout_.sequence || layout_.tensor == 1) return {call(pair, CollectiveKind::send_receive, rows), {}};
  return {call(pair, CollectiveKind::send_receive, (1.0 / layout_.tensor) * rows),
          call(Axis::tensor, CollectiveKind::all_gather, rows)};
}

GroupCall GroupPlans::between_ends(Bytes message) {
  const AxisGroup stages = group_of(layout_, Axis::pipeline);
  if (stages.size <= 1) return {};
  // Links inside a node are alike, and so are those between nodes: half the way is as long, and its ranks fit nodes.
  return call({2, stages.stride * std::max(1, stages.size / 2)}, CollectiveKind::all_reduce, message);
}

GroupCall GroupPlans::within_data(int ranks, CollectiveKind kind, Bytes message) {
  const AxisGroup all = group_of(layout_, Axis::data);
  return call({std::min(ranks, all.size), all.stride}, kind, message);
}

GroupCall GroupPlans::across_data(int ranks, CollectiveKind kind, Bytes message) {
  const AxisGroup all = group_of(layout_, Axis::data);
  return call({all.size / ranks, all.stride * ranks}, kind, message);
}

GroupCall GroupPlans::expert_data(CollectiveKind kind, Bytes message) { return call(expert_copies(layout_), kind, message); }

}  // namespace tbdsim
