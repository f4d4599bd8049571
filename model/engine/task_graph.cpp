#include "model/engine/task_graph.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tbdsim::engine {

namespace {
std::int32_t next_index(std::size_t size) { return static_cast<std::int32_t>(size); }
}  // namespace

StreamId TaskGraph::add_stream(std::string name) {
  stream_names_.push_back(std::move(name));
  workers_.push_back(0);
  return {next_index(stream_names_.size() - 1)};
}

StreamId TaskGraph::add_queue(std::string name, std::int32_t workers) {
  assert(workers >= 1);
  const StreamId id = add_stream(std::move(name));
  workers_.back() = workers;
  return id;
}

void TaskGraph::set_priority(TaskId id, std::int32_t priority) {
  const auto task = static_cast<std::size_t>(id.value);
  assert(task < tasks());
  if (priority_.size() <= task) priority_.resize(task + 1, 0);
  priority_[task] = priority;
}

LinkId TaskGraph::add_link(std::string name, BytesPerSecond capacity) {
  assert(capacity > BytesPerSecond(0.0));
  link_names_.push_back(std::move(name));
  capacity_.push_back(capacity);
  return {next_index(link_names_.size() - 1)};
}

TaskId TaskGraph::add_task(StreamId stream, SimTime duration, std::span<const TaskId> after, std::int32_t label) {
  assert(stream.value >= -1 && stream.value < next_index(streams()));
  assert(duration >= SimTime{});
  const TaskId id{next_index(tasks())};
  for ([[maybe_unused]] const TaskId earlier : after) assert(earlier.value >= 0 && earlier.value < id.value);
  stream_of_.push_back(stream.value);
  duration_.push_back(duration);
  label_.push_back(label);
  flow_of_.push_back(-1);
  dependencies_.insert(dependencies_.end(), after.begin(), after.end());
  first_dependency_.push_back(next_index(dependencies_.size()));
  return id;
}

TaskId TaskGraph::add_flow(StreamId stream, Bytes bytes, SimTime latency, std::span<const LinkUse> route,
                           std::span<const TaskId> after, std::int32_t label, BytesPerSecond max_rate) {
  assert(bytes >= Bytes(0.0) && max_rate >= BytesPerSecond(0.0));
  const TaskId id = add_task(stream, latency, after, label);
  flow_of_.back() = next_index(flows_.size());
  const std::int32_t first_use = next_index(uses_.size());
  append_route(route);
  const std::int32_t uses = next_index(uses_.size()) - first_use;
  assert((bytes == Bytes(0.0) || uses > 0 || max_rate > BytesPerSecond(0.0)) && "nothing limits the flow");
  flows_.push_back({bytes.base(), max_rate.base(), first_use, uses});
  return id;
}

/// Each link once, with the sum of its weights.
void TaskGraph::append_route(std::span<const LinkUse> route) {
  const auto first = static_cast<std::ptrdiff_t>(uses_.size());
  for (const LinkUse& use : route) {
    assert(use.link.value >= 0 && use.link.value < next_index(links()) && use.weight >= 0.0);
    if (use.weight > 0.0) uses_.push_back(use);
  }
  std::sort(uses_.begin() + first, uses_.end(), [](const LinkUse& a, const LinkUse& b) {
    return a.link.value != b.link.value ? a.link.value < b.link.value : a.weight < b.weight;
  });
  auto kept = uses_.begin() + first;
  for (auto use = kept; use != uses_.end(); ++use) {
    if (use == uses_.begin() + first) continue;
    if (use->link.value == kept->link.value) {
      kept->weight += use->weight;
    } else {
      *++kept = *use;
    }
  }
  if (kept != uses_.end()) uses_.erase(kept + 1, uses_.end());
}

void TaskGraph::reserve(std::size_t tasks, std::size_t dependencies) {
  stream_of_.reserve(tasks);
  duration_.reserve(tasks);
  label_.reserve(tasks);
  flow_of_.reserve(tasks);
  first_dependency_.reserve(tasks + 1);
  dependencies_.reserve(dependencies);
}

Bytes TaskGraph::bytes(TaskId id) const {
  const std::int32_t flow = flow_of_[static_cast<std::size_t>(id.value)];
  return flow < 0 ? Bytes(0.0) : Bytes(flows_[static_cast<std::size_t>(flow)].bytes);
}

std::span<const TaskId> TaskGraph::dependencies(TaskId id) const {
  const auto task = static_cast<std::size_t>(id.value);
  const auto first = static_cast<std::size_t>(first_dependency_[task]);
  const auto last = static_cast<std::size_t>(first_dependency_[task + 1]);
  return std::span(dependencies_).subspan(first, last - first);
}

}  // namespace tbdsim::engine
