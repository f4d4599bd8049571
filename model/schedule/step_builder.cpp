#include "model/schedule/step_builder.hpp"

#include <algorithm>

namespace tbdsim {

using engine::TaskId;

std::int32_t StepBuilder::label(StepTask task) {
  task.iteration = iteration_;
  out_.tasks.push_back(task);
  return static_cast<std::int32_t>(out_.tasks.size()) - 1;
}

engine::LinkId StepBuilder::link(const std::string& name, BytesPerSecond capacity) {
  const auto found = links_.find(name);
  if (found != links_.end()) return found->second;
  return links_.emplace(name, out_.graph.add_link(name, capacity)).first->second;
}

TaskId StepBuilder::add_task(StepTask task, engine::StreamId stream, Seconds duration, std::span<const TaskId> after) {
  if (iteration_ == 0) out_.total += duration;
  return out_.graph.add_task(stream, SimTime::from(duration), after, label(task));
}

TaskId StepBuilder::add_flow(StepTask task, engine::StreamId stream, Bytes bytes, Seconds latency,
                             std::span<const engine::LinkUse> route, std::span<const TaskId> after, BytesPerSecond max_rate) {
  if (iteration_ == 0) {
    Seconds slowest(0.0);
    if (max_rate > BytesPerSecond(0.0)) slowest = bytes / max_rate;
    for (const auto& use : route) slowest = std::max(slowest, use.weight * bytes / out_.graph.link_capacity(use.link));
    out_.total += latency + slowest;
  }
  return out_.graph.add_flow(stream, bytes, SimTime::from(latency), route, after, label(task), max_rate);
}

std::span<const ParameterId> StepBuilder::produced(std::size_t index) const {
  const StepNode& n = out_.nodes[index];
  const bool completes = info(n.pass).parameter_gradients;
  if (!completes) return {};
  return graph_.op(n.op).parameters;
}

Bytes StepBuilder::gradient_bytes(ParameterId id) const {
  return static_cast<double>(elements(graph_.parameter(id).shape)) * out_.gradient_element;
}

}  // namespace tbdsim
