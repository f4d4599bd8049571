#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/units/quantity.hpp"
#include "model/units/sim_time.hpp"

namespace tbdsim::engine {

struct StreamId {
  std::int32_t value = -1;
};
struct LinkId {
  std::int32_t value = -1;
};
struct TaskId {
  std::int32_t value = -1;
};

/// Use of one link by a flow: `weight` bytes cross the link for each byte of the flow (a ring all-reduce of
/// S bytes over p ranks puts 2(p-1)/p S bytes on each link of the ring).
struct LinkUse {
  LinkId link;
  double weight = 1.0;
};

/// What is to be simulated: tasks on serial streams, flows over shared links, dependencies. Flat arrays; built
/// once, then immutable for `simulate`.
///
/// * A stream runs its tasks one at a time in the order in which they were added (a CUDA stream, a host thread).
/// * A queue is a stream that takes what is ready: of the tasks whose dependencies have ended, the one of least priority
///   value, of several the one that was ready first (a NIC's send thread, a server's worker). With several workers, so many run
///   at a time. It never interrupts a task.
/// * A task starts when its stream is free, all earlier tasks of the stream have ended, and all dependencies ended.
/// * A flow is a task that first waits its latency and then moves its bytes; flows that are moving share every link
///   max-min fairly. It occupies its stream, if it has one, from start to end.
class TaskGraph {
 public:
  [[nodiscard]] StreamId add_stream(std::string name);
  /// Expects workers >= 1.
  [[nodiscard]] StreamId add_queue(std::string name, std::int32_t workers = 1);
  [[nodiscard]] LinkId add_link(std::string name, BytesPerSecond capacity);
  /// `label` is the caller's index (what the task stands for). Dependencies must have been added before, so no graph
  /// has a cycle. `stream.value == -1`: no stream, limited by dependencies only. Expects capacity > 0, duration >= 0.
  TaskId add_task(StreamId stream, SimTime duration, std::span<const TaskId> after, std::int32_t label = -1);
  /// `max_rate` 0: limited by links only. A flow of 0 bytes takes its latency. A link named twice in `route` counts with
  /// the sum of its weights, with weight 0 not at all. Expects bytes >= 0 and, if > 0, a link or a max_rate.
  TaskId add_flow(StreamId stream, Bytes bytes, SimTime latency, std::span<const LinkUse> route, std::span<const TaskId> after,
                  std::int32_t label = -1, BytesPerSecond max_rate = BytesPerSecond(0.0));
  /// Place of a task in its queue; 0 unless set. Of no effect on other streams.
  void set_priority(TaskId id, std::int32_t priority);
  void reserve(std::size_t tasks, std::size_t dependencies);

  [[nodiscard]] std::size_t tasks() const { return stream_of_.size(); }
  [[nodiscard]] std::size_t streams() const { return stream_names_.size(); }
  [[nodiscard]] std::size_t links() const { return link_names_.size(); }
  [[nodiscard]] bool is_queue(StreamId id) const { return workers(id) > 0; }
  [[nodiscard]] std::int32_t workers(StreamId id) const { return workers_[static_cast<std::size_t>(id.value)]; }  ///< 0: no queue
  [[nodiscard]] std::int32_t priority(TaskId id) const {
    return static_cast<std::size_t>(id.value) < priority_.size() ? priority_[static_cast<std::size_t>(id.value)] : 0;
  }
  [[nodiscard]] const std::string& stream_name(StreamId id) const { return stream_names_[static_cast<std::size_t>(id.value)]; }
  [[nodiscard]] const std::string& link_name(LinkId id) const { return link_names_[static_cast<std::size_t>(id.value)]; }
  [[nodiscard]] BytesPerSecond link_capacity(LinkId id) const { return capacity_[static_cast<std::size_t>(id.value)]; }
  [[nodiscard]] StreamId stream_of(TaskId id) const { return {stream_of_[static_cast<std::size_t>(id.value)]}; }
  [[nodiscard]] SimTime duration(TaskId id) const { return duration_[static_cast<std::size_t>(id.value)]; }  ///< a flow's latency
  [[nodiscard]] std::int32_t label(TaskId id) const { return label_[static_cast<std::size_t>(id.value)]; }
  [[nodiscard]] bool is_flow(TaskId id) const { return flow_of_[static_cast<std::size_t>(id.value)] >= 0; }
  [[nodiscard]] Bytes bytes(TaskId id) const;  ///< that a flow moves; 0 for other tasks
  [[nodiscard]] std::span<const TaskId> dependencies(TaskId id) const;

 private:
  friend class Simulation;
  void append_route(std::span<const LinkUse> route);
  struct Flow {
    double bytes;
    double max_rate;
    std::int32_t first_use;
    std::int32_t uses;
  };
  std::vector<std::string> stream_names_, link_names_;
  std::vector<BytesPerSecond> capacity_;
  std::vector<std::int32_t> workers_;   // per stream; 0: no queue
  std::vector<std::int32_t> priority_;  ///< up to the last task that has one
  std::vector<std::int32_t> stream_of_, label_, flow_of_;
  std::vector<SimTime> duration_;
  std::vector<std::int32_t> first_dependency_{0};  ///< tasks + 1 entries into dependencies_
  std::vector<TaskId> dependencies_;
  std::vector<Flow> flows_;
  std::vector<LinkUse> uses_;
};

}  // namespace tbdsim::engine
