#include "model/schedule/collective/collective_lane.hpp"

namespace tbdsim {

void CollectiveLane::prepare(StepBuilder& builder) {
  links_.clear();
  links_.reserve(plan_.links.size());
  for (const CollectiveLink& link : plan_.links) links_.push_back(builder.link(link.name, link.capacity));
}

engine::TaskId CollectiveLane::call(StepBuilder& builder, StepTask task, engine::StreamId stream, Bytes message,
                                    std::span<const engine::TaskId> after) {
  const CollectiveCall call = collective_call(plan_, message);
  route_.clear();
  for (const LinkWeight& use : call.weights) route_.push_back({links_[static_cast<std::size_t>(use.link)], use.weight});
  return builder.add_flow(task, stream, message, call.latency, route_, after, call.rate);
}

}  // namespace tbdsim
